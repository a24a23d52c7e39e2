import type { Service } from './compose.ts';
import type { Config } from './config.ts';
import { DEMO_GROUP } from './demo.ts';

/** What a person sees after `npm start`: where it is, and a first call that works. */
export function banner(config: Config, service: Service, isTerminal: boolean): string {
  const lines = [
    '',
    `Porter (${config.environment}) listens on ${service.url}`,
    `The console for operators is at ${service.url}/console`,
  ];
  if (config.environment === 'production' && !config.tls && config.trustProxy.length === 0) {
    lines.push(
      '',
      'It refuses every call: production takes HTTPS only. Set PORTER_TLS_CERT and PORTER_TLS_KEY,',
      'or name the proxy that ends TLS in PORTER_TRUST_PROXY.',
    );
  }
  if (service.firstOperatorToken) {
    // What is no terminal is collected somewhere, and read by whoever reads logs.
    if (isTerminal || config.environment === 'staging')
      lines.push(
        '',
        'The first operator token, shown until it was used once:',
        `  ${service.firstOperatorToken}`,
      );
    else
      lines.push(
        '',
        'The first operator token is shown on a terminal only. Start it on one once (docker run --tty, or by hand),',
        'or set PORTER_OPERATOR_TOKEN.',
      );
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
