import type { Environment } from '../../contract/access.ts';
import { alertKindNames } from '../../contract/alerts.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { newId, type RandomBytes } from '../../domain/ids.ts';
import { retryAfter } from '../../domain/mail.ts';
import { type AlertThresholds, decideAlerts } from '../../domain/oversight/alerts.ts';
import { compose, wants } from '../../domain/oversight/notification.ts';
import { type Clock, databaseTime } from '../../platform/clock.ts';
import { type Logger, redact } from '../../platform/logger.ts';
import { type Mailer, MailRefused } from '../../platform/mail.ts';
import { Outage } from '../../platform/outage.ts';
import { findContacts } from '../../store/access/contacts.ts';
import { type Database, type Transaction, transact } from '../../store/database.ts';
import { isOnlyLate } from '../../store/database-errors.ts';
import { readOldestUndelivered } from '../../store/events/queue-numbers.ts';
import { readAlertFacts } from '../../store/oversight/alert-facts.ts';
import {
  beginAlerts,
  beginLook,
  countOpenAlerts,
  endAlerts,
  findOpenAlerts,
} from '../../store/oversight/alerts.ts';
import { noteOldest } from '../../store/oversight/figures.ts';
import {
  type ClaimedNotification,
  claimNotifications,
  countNotifications,
  dropNotices,
  findAudiences,
  insertNotification,
  markFailed,
  markSent,
  takeNotices,
} from '../../store/oversight/notifications.ts';
import { askDatabaseTime } from '../../store/shared-clock.ts';
import { sendInvitations } from '../access/invitations.ts';
import { scraped } from './scraped.ts';

interface Surroundings {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  log: Logger;
  environment: Environment;
  thresholds: AlertThresholds;
  /** Undefined: nobody is mailed, and alerts are only listed. */
  mailer: Mailer | undefined;
  docsUrl: () => string;
  support: string;
  /** The page that the link of an invitation leads to. */
  enterUrl: () => string;
}

interface Numbers {
  open: { kind: string; count: number }[];
  waiting: number;
  failed: number;
}

/** One node looks once a minute; each asks this often whether it is its turn, and whether there is something to send. */
const TURN_MS = 20_000;
/** Messages that a node sends at a time. With what a server may take for each, they are done long before another node takes over. */
const SENT_AT_ONCE = 5;
const ERROR_LENGTH_MAX = 500;

/**
 * Finds out what somebody has to be told of, and tells them: looks (facts → decision → alerts, with what is to be told, in one transaction),
 * writes the messages (another), and sends them (marked afterwards, so that a crash sends one again, under the same Message-ID, and
 * forgets none). Works on every node, also on one that only answers calls: it tells when no worker is left.
 */
export class Alerts {
  readonly #surroundings: Surroundings;
  #cancel = () => {};
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;
  readonly #numbers: () => Promise<Numbers | undefined>;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    const { db, clock } = surroundings;
    this.#numbers = scraped(clock, () =>
      transact(db, SYSTEM, async (tx) => ({
        open: await countOpenAlerts(tx),
        ...(await countNotifications(tx)),
      })),
    );
  }

  start(): void {
    this.#underWay = this.#turn().finally(() => {
      if (!this.#isStopped) this.#cancel = this.#surroundings.clock.timer(TURN_MS, () => this.start());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#underWay;
    this.#surroundings.mailer?.close();
  }

  async #turn(): Promise<void> {
    // What is to be told already does not wait for a look that does not get done.
    for (const step of [() => this.look(), () => this.tell()])
      await step().catch((error) => {
        if (this.#isStopped) return;
        if (isOnlyLate(error))
          this.#surroundings.log.warn(
            { err: error },
            'the database is late: alerts wait for their next turn',
          );
        else if (!(error instanceof Outage)) this.#surroundings.log.error({ err: error }, 'alerts stumbled');
      });
  }

  /** Begins and ends alerts, if it is time, and notes for charts how late deliveries are. Returns how many alerts. */
  async look(): Promise<{ begun: number; ended: number }> {
    const { db, clock, random, log, thresholds } = this.#surroundings;
    const looked = await transact(db, SYSTEM, async (tx) => {
      const due = await beginLook(tx, databaseTime(clock));
      if (!due) return undefined;
      const open = await findOpenAlerts(tx);
      const facts = await readAlertFacts(tx, due, open, thresholds);
      const now = Date.parse(due.at);
      const { begin, end } = decideAlerts(facts, open, now, thresholds);
      const ended = await endAlerts(tx, due.at, end);
      const named = begin.map((alert) => ({ ...alert, id: newId('alt', now, random) }));
      const begun = await beginAlerts(tx, due.at, named);
      return { now, begun: begun.length, ended: ended.length };
    });
    if (!looked) return { begun: 0, ended: 0 };
    const { now, ...done } = looked;
    await transact(db, SYSTEM, async (tx) => {
      const oldest = await readOldestUndelivered(tx);
      noteOldest(tx, now, oldest === null ? 0 : Math.max(0, now - Date.parse(oldest)));
    });
    if (done.begun + done.ended > 0) log.info(done, 'alerts began or ended');
    return done;
  }

  /** Writes what is to be told into messages, and sends all that are due. Returns how many were sent. */
  async tell(): Promise<number> {
    const { db, clock, mailer } = this.#surroundings;
    if (!mailer) {
      await transact(db, SYSTEM, dropNotices);
      return 0;
    }
    await sendInvitations(this.#surroundings, mailer, () => this.#isStopped);
    const at = new Date(await askDatabaseTime(db, clock)).toISOString();
    await transact(db, SYSTEM, (tx) => this.#write(tx, at));
    let sent = 0;
    while (!this.#isStopped) {
      const claimed = await transact(db, SYSTEM, (tx) =>
        claimNotifications(tx, databaseTime(clock), SENT_AT_ONCE),
      );
      const outcomes = await Promise.all(claimed.map((one) => this.#send(mailer, one)));
      sent += outcomes.filter(Boolean).length;
      if (claimed.length < SENT_AT_ONCE) break;
    }
    return sent;
  }

  async #write(tx: Transaction, at: string): Promise<void> {
    const { random, environment, docsUrl, support } = this.#surroundings;
    for (const partnerId of await findAudiences(tx, at)) {
      const notices = await takeNotices(tx, partnerId);
      const reader = partnerId === null ? ('operator' as const) : ('partner' as const);
      for (const contact of await findContacts(tx, partnerId)) {
        const wanted = notices.filter(({ alert }) => wants(contact.alert_kinds, alert.kind));
        if (wanted.length === 0) continue;
        const message = compose(wanted, { reader, environment, docsUrl: docsUrl(), support });
        const id = newId('ntf', Date.parse(at), random);
        insertNotification(tx, at, { id, partnerId, email: contact.email, name: contact.name, ...message });
      }
    }
  }

  async #send(mailer: Mailer, notification: ClaimedNotification): Promise<boolean> {
    const { db, clock, log } = this.#surroundings;
    const { id, email, name, tries } = notification;
    try {
      await mailer.send({ ...notification, to: { name, address: email } });
    } catch (error) {
      const isPermanent = error instanceof MailRefused && error.isPermanent;
      const delayMs = retryAfter(tries, isPermanent);
      const reason = redact(error instanceof Error ? error.message : String(error)).slice(
        0,
        ERROR_LENGTH_MAX,
      );
      log.warn(
        { notification: id, tries, reason, given_up: delayMs === undefined },
        'a message was not sent',
      );
      await transact(db, SYSTEM, (tx) =>
        markFailed(tx, notification, { at: databaseTime(clock), delayMs, error: reason }),
      );
      return false;
    }
    await transact(db, SYSTEM, (tx) => markSent(tx, id, databaseTime(clock)));
    return true;
  }

  /** Prometheus text; empty while the database does not answer. */
  async metrics(): Promise<string> {
    const numbers = await this.#numbers();
    if (!numbers) return '';
    const { open, waiting, failed } = numbers;
    return [
      '# HELP porter_alerts_open Alerts that are open, by kind; the same on every node.',
      '# TYPE porter_alerts_open gauge',
      ...alertKindNames.map(
        (kind) => `porter_alerts_open{kind="${kind}"} ${open.find((one) => one.kind === kind)?.count ?? 0}`,
      ),
      '# HELP porter_notifications Messages about alerts that are to be sent, and those that were given up within the retention time.',
      '# TYPE porter_notifications gauge',
      `porter_notifications{state="waiting"} ${waiting}`,
      `porter_notifications{state="failed"} ${failed}`,
      '',
    ].join('\n');
  }
}
