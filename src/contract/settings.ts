/**
 * Every setting, as the operator reads it in the documentation and in the console. `src/service/config.ts` reads and checks the values. Texts are
 * Markdown; links are relative to `docs/operating`.
 */
export interface SettingDescription {
  name: string;
  meaning: string;
  /** Left out where an absent setting simply has no value. */
  default?: string;
}

export const settingTopics: readonly { title: string; settings: readonly SettingDescription[] }[] = [
  {
    title: 'Environment and addresses',
    settings: [
      {
        name: 'PORTER_ENVIRONMENT',
        meaning: '`staging` or `production`. Keys of one do not work in the other',
        default: '`staging`',
      },
      { name: 'PORTER_HOST', meaning: 'the IP address or host name to listen on', default: '`127.0.0.1`' },
      { name: 'PORTER_PORT', meaning: 'the port to listen on', default: '`8080`' },
      {
        name: 'PORTER_BASE_URL',
        meaning:
          'the public URL of production, for the documents, for links in errors, and as the `aud` of assertions',
        default: '`https://api.porter.example`',
      },
      {
        name: 'PORTER_STAGING_BASE_URL',
        meaning: 'the public URL of staging, for the same purposes',
        default: '`https://staging.api.porter.example`',
      },
      {
        name: 'PORTER_SUPPORT_CONTACT',
        meaning:
          "the partners' contact: an email address or an `https://` page. Documentation, documents and messages name it",
        default: '`support@porter.example`',
      },
      {
        name: 'PORTER_DEMO',
        meaning:
          '`on`: a first start on an empty database makes the demo world and stores its key in the data folder as `demo-key`. If that file is lost, a later start makes another key, unless a key of the demo partner was revoked. A node with `PORTER_ROLE=worker` makes neither',
        default: '`on` in staging, `off` in production',
      },
    ],
  },
  {
    title: 'Database',
    settings: [
      {
        name: 'DATABASE_URL',
        meaning:
          'a PostgreSQL, version 15 or newer: `postgres://user:password@host:5432/database`. With several hosts, separated by commas, Porter uses the one that accepts writes: see [Failover](failover.md). Without this setting, the service starts its own PostgreSQL',
      },
      {
        name: 'PORTER_MIGRATION_DATABASE_URL',
        meaning:
          'the login that owns the tables, for migrations. The login of `DATABASE_URL` then owns nothing. See [Deploying](deploying.md#two-logins)',
      },
      {
        name: 'PORTER_DATA_DIR',
        meaning: 'the folder of the embedded PostgreSQL, the demo key and a generated master key',
        default: '`.porter`',
      },
    ],
  },
  {
    title: 'Secrets',
    settings: [
      {
        name: 'PORTER_OPERATOR_TOKEN',
        meaning:
          'the token of the first operator, role `admin`; in production at least 24 characters. Without it, the first start makes a token. Every start prints that token until it has been used once (in production only on a terminal)',
      },
      {
        name: 'PORTER_MASTER_KEY',
        meaning: '32 random bytes in base64 or hex that seal the secrets of webhooks. Required in production',
        default: 'made in the data folder',
      },
      {
        name: 'PORTER_MASTER_KEY_PREVIOUS',
        meaning:
          'older master keys, separated by commas. The next start seals their secrets with the current key',
      },
    ],
  },
  {
    title: 'HTTPS, proxies and connections',
    settings: [
      {
        name: 'PORTER_TLS_CERT',
        meaning:
          'a PEM file with the certificate chain, to serve HTTPS. Set it together with `PORTER_TLS_KEY`',
      },
      { name: 'PORTER_TLS_KEY', meaning: 'a PEM file with the private key' },
      {
        name: 'PORTER_TRUST_PROXY',
        meaning:
          'IP addresses or ranges of proxies, separated by commas, whose `x-forwarded-proto` and `x-forwarded-for` Porter believes',
      },
      {
        name: 'PORTER_CLIENT_CERTIFICATES',
        meaning:
          "the source of client certificates, for [keys that need one](keys.md#ask-for-more-than-a-key): `off`; `tls`, by the service's own TLS; or the header in which a trusted proxy reports it: `x-client-cert-sha256`, `x-forwarded-client-cert` or `x-client-cert`",
        default: '`off`',
      },
      {
        name: 'PORTER_CONNECTIONS_MAX',
        meaning:
          'open connections of callers, 1 to 1,000,000; several processes share the number. Above it, Porter closes the oldest connection without a working key',
        default: '`4096`',
      },
      {
        name: 'PORTER_CONNECTIONS_PER_ADDRESS_MAX',
        meaning: 'the same for one IP address (for IPv6, of one /64). Trusted proxies have no such limit',
        default: '`256`',
      },
      {
        name: 'PORTER_PROBES',
        meaning:
          'who may request `/healthz`, `/readyz` and `/metrics`: `loopback`, which excludes every forwarded request, or `anywhere`',
        default: '`loopback`',
      },
    ],
  },
  {
    title: 'Webhooks',
    settings: [
      {
        name: 'PORTER_WEBHOOK_TARGETS',
        meaning:
          '`public`: webhooks receive HTTPS requests at public IP addresses. `loopback` (staging only): also on this machine, and by plain HTTP there. The delivery log shows partners the responses from this machine, so run nothing secret on it',
        default:
          '`loopback` in staging if the service listens on the loopback, without TLS and proxy. Otherwise `public`',
      },
      {
        name: 'PORTER_OPERATOR_TARGETS',
        meaning:
          'networks of your own, such as `10.20.0.0/16`, in which [your own subscriptions](practice-software.md#in-your-own-network) may receive requests, also by HTTPS only',
        default: 'none beyond `PORTER_WEBHOOK_TARGETS`',
      },
      {
        name: 'PORTER_WEBHOOK_SENDERS',
        meaning:
          'the IP addresses or ranges that your webhooks come from, separated by commas. Partners see them and can open their firewall; Porter itself does not use them',
      },
      {
        name: 'PORTER_WEBHOOKS_URL',
        meaning: 'the webhook server of production that the AsyncAPI document names',
        default: '`https://webhooks.porter.example`',
      },
      {
        name: 'PORTER_STAGING_WEBHOOKS_URL',
        meaning: 'the webhook server of staging that the AsyncAPI document names',
        default: '`https://staging.webhooks.porter.example`',
      },
    ],
  },
  {
    title: 'Nodes and processes',
    settings: [
      {
        name: 'PORTER_ROLE',
        meaning: '`api` answers requests, `worker` delivers events, `all` does both',
        default: '`all`',
      },
      {
        name: 'PORTER_PROCESSES',
        meaning: 'the number of processes, 1 to 64: see [Several cores](deploying.md#several-cores)',
        default:
          'the available cores, at most 8 and at most one for each 400 MB of memory; three quarters of four or more cores if PostgreSQL runs on the same machine',
      },
      {
        name: 'PORTER_RATE_WINDOWS',
        meaning:
          'where Porter counts requests: `shared`, in PostgreSQL for all nodes together, or `memory`, in each node (all its processes together)',
        default: '`shared` with `DATABASE_URL`, otherwise `memory`',
      },
    ],
  },
  {
    title: 'Retention',
    settings: [
      {
        name: 'PORTER_RETENTION_DAYS',
        meaning:
          'days to keep events, deliveries and refused requests, 1 to 3650. Unfinished deliveries to an active webhook stay up to 14 days longer, and `change.withdrawn` stays until it is received',
        default: '`30`',
      },
      {
        name: 'PORTER_FORM_SUBMISSION_DAYS',
        meaning: 'days to keep form submissions and their daily counts',
        default: '`400`',
      },
      {
        name: 'PORTER_JOB_DAYS',
        meaning: 'days to keep write-to-record jobs after they succeeded or failed',
        default: '`400`',
      },
      {
        name: 'PORTER_CHANGE_DAYS',
        meaning: 'days to keep changes after they were applied or rejected',
        default: '`400`',
      },
      {
        name: 'PORTER_ENDED_KEY_DAYS',
        meaning: 'days to keep keys after their revocation or expiry; not less than the access log',
        default: '`800`',
      },
      {
        name: 'PORTER_USAGE_DAYS',
        meaning: 'days to keep the figures of usage and of the SLA',
        default: '`800`',
      },
      {
        name: 'PORTER_ACCESS_LOG_DAYS',
        meaning:
          'days to keep the access log and the history of networks: see [Personal data](personal-data.md)',
        default: '`400`',
      },
      {
        name: 'PORTER_ALERT_DAYS',
        meaning: 'days to keep [alerts](alerts.md) after they ended. Their messages stay as long as events',
        default: '`400`',
      },
    ],
  },
  {
    title: 'Alerts and mail',
    settings: [
      {
        name: 'PORTER_SMTP_URL',
        meaning:
          'the mail server for [alerts](alerts.md) and invitations: `smtp://user:password@host:587`, which must switch to TLS unless it runs on this machine, or `smtps://…:465`. Set it together with `PORTER_MAIL_FROM`',
      },
      { name: 'PORTER_MAIL_FROM', meaning: 'the sender of the messages: `Porter <alerts@porter.example>`' },
      {
        name: 'PORTER_ALERT_PARTNER_WAITING_DAYS',
        meaning:
          'days without the next step of its onboarding after which a partner raises an alert, 1 to 365',
        default: '`7`',
      },
      {
        name: 'PORTER_ALERT_LATE_MINUTES',
        meaning: 'minutes after which a delivery to an active webhook is late, 1 to 10080',
        default: '`90`',
      },
      {
        name: 'PORTER_ALERT_EHR_DOWN_MINUTES',
        meaning: 'minutes after which an unhealthy EHR connection raises an alert, 1 to 10080',
        default: '`30`',
      },
      {
        name: 'PORTER_ALERT_CHANGES_PENDING_MINUTES',
        meaning:
          'minutes after which a change raises an alert that the practice software has neither applied nor rejected, 1 to 10080',
        default: '`60`',
      },
    ],
  },
  {
    title: 'Signing in and approvals',
    settings: [
      {
        name: 'PORTER_SESSION_IDLE_MINUTES',
        meaning:
          'minutes without use after which a person is [signed out](signing-in.md) of the console, 2 to 1440',
        default: '`30`',
      },
      {
        name: 'PORTER_SESSION_HOURS',
        meaning: 'hours after which a person is signed out in any case, 1 to 168',
        default: '`12`',
      },
      {
        name: 'PORTER_OIDC_ISSUER',
        meaning:
          'the OpenID Connect provider through which people [sign in](signing-in.md#through-your-identity-provider) to the console: an HTTPS URL, in staging also on this machine. Without it, people sign in with tokens',
      },
      { name: 'PORTER_OIDC_CLIENT_ID', meaning: 'the client ID that the provider gave Porter' },
      { name: 'PORTER_OIDC_CLIENT_SECRET', meaning: 'the client secret; leave it out for a public client' },
      {
        name: 'PORTER_OIDC_SCOPES',
        meaning: 'the requested scopes, separated by blanks. Some providers send groups only on request',
        default: '`openid profile email`',
      },
      {
        name: 'PORTER_OIDC_ROLES_CLAIM',
        meaning: 'the claim with roles or groups, or a path to it such as `realm_access.roles`',
        default: '`groups`',
      },
      {
        name: 'PORTER_OIDC_ROLES',
        meaning:
          'the role for each value of that claim, separated by commas: `porter-admins=admin, porter-readers=viewer`. Roles are `admin`, `support` and `viewer`',
      },
      {
        name: 'PORTER_APPROVALS',
        meaning:
          'the acts that need the approval of [a second person](signing-in.md#a-second-persons-approval), separated by commas: `keys`, `networks`, `operators`',
        default: 'none',
      },
    ],
  },
  {
    title: 'Audit anchors',
    settings: [
      {
        name: 'PORTER_AUDIT_ANCHOR_FILE',
        meaning:
          'a file to which Porter appends [anchors of the audit](backup-and-restore.md#anchors-of-the-audit)',
      },
      {
        name: 'PORTER_AUDIT_ANCHOR_URL',
        meaning:
          'a URL to which Porter sends anchors: by POST, or by PUT with one object for each anchor if the URL contains `{seq}`. It follows the rules for webhook URLs',
      },
      {
        name: 'PORTER_AUDIT_ANCHOR_MINUTES',
        meaning: 'minutes between anchors, 1 to 1440; Porter writes one only if the audit has grown',
        default: '`60`',
      },
    ],
  },
];
