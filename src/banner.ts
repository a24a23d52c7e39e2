import type { Service } from './compose.ts';
import type { Config } from './config.ts';
import { DEMO_GROUP } from './demo.ts';

/** What a person sees after `npm start`: where it is, and a first call that works. */
export function banner(config: Config, service: Service): string {
  const lines = ['', `Porter (${config.environment}) listens on ${service.url}`];
  if (config.environment === 'production' && !config.tls && config.trustProxy.length === 0) {
    lines.push(
      '',
      'It refuses every call: production takes HTTPS only. Set PORTER_TLS_CERT and PORTER_TLS_KEY,',
      'or name the proxy that ends TLS in PORTER_TRUST_PROXY.',
    );
  }
  if (service.firstOperatorToken) {
    lines.push('', 'The first operator token, shown only this once:', `  ${service.firstOperatorToken}`);
  }
  if (service.demoKey) {
    lines.push(
      '',
      'A first call to the demo world:',
      `  curl ${service.url}/v1/practice-groups \\`,
      `    -H 'x-api-key: ${service.demoKey}' \\`,
      `    -H 'x-practice-group-id: ${DEMO_GROUP}'`,
      '',
      'The documentation, with this key filled in:',
      // A fragment stays in the browser: the key is in no request and in no log.
      `  ${service.url}/docs#key=${service.demoKey}&group=${DEMO_GROUP}`,
    );
  }
  return `${lines.join('\n')}\n\n`;
}
