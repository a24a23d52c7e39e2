import type { Setting } from '../contract/operator/oversight/deployment.ts';
import { settingTopics } from '../contract/settings.ts';
import type { Config, TakenSetting } from './config.ts';

/** Settings as operators see them, in the order of the documentation. */
export function describeSettings({ settings }: Config): Setting[] {
  const taken = new Map(settings.map((one) => [one.name, one]));
  return settingTopics.flatMap((topic) =>
    topic.settings.flatMap(({ name, meaning }) => {
      const one = taken.get(name);
      return one ? [{ ...presentSetting(one), description: plainText(meaning) }] : [];
    }),
  );
}

/** Links by their words, and code without its marks. */
const plainText = (markdown: string) =>
  markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');

/** Those that the service makes for itself when they are not set. */
const MADE = ['PORTER_MASTER_KEY', 'PORTER_OPERATOR_TOKEN'];

function presentSetting({ name, text, isSet }: TakenSetting): Omit<Setting, 'description'> {
  const secret = isSecret(name);
  const otherwise = MADE.includes(name) ? ('made' as const) : ('default' as const);
  return {
    name,
    value: secret || text === undefined ? null : withoutSecrets(text),
    source: isSet ? 'environment' : otherwise,
    secret,
  };
}

/** What is called like a secret is one, whoever adds it. The other is a file. */
function isSecret(name: string): boolean {
  return /TOKEN|SECRET|PASSWORD|(^|_)KEY/.test(name) && name !== 'PORTER_TLS_KEY' && !name.endsWith('_DAYS');
}

/** Of addresses, who signs in and what follows the path: both may hold a password. */
function withoutSecrets(text: string): string {
  return text.includes('://')
    ? text.replaceAll(/\/\/[^/?#\s]*@/g, '//…@').replaceAll(/\?[^\s,]*/g, '?…')
    : text;
}
