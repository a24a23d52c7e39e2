import type { Approval } from '../contract/approval.ts';

/** How a command can end. What each means is part of the help and of the guide. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  interrupted: 130,
  unread: 141,
  terminated: 143,
} as const;

export const exitMeanings: Record<keyof typeof exitCodes, string> = {
  ok: 'Done.',
  failed: 'Refused or failed. `verify`: not genuine. `status`: not healthy. `audit verify`: altered.',
  usage: 'The command line is not right.',
  unreachable: 'The service cannot be reached.',
  interrupted: 'Ended by Ctrl-C.',
  unread: 'Nobody reads its output any more.',
  terminated: 'Ended by SIGTERM.',
};

/** The exit code of a command that a signal ended. */
export function stoppedCode(stop: AbortSignal): number {
  return stop.reason === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted;
}

/** Something that a person can mend. `hint` says how. */
export class Failure extends Error {
  readonly exitCode: number = exitCodes.failed;
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }

  /** For `--json`. */
  toJSON(): object {
    return {
      error: this.kind,
      message: this.message,
      ...(this.hint !== undefined && { hint: this.hint }),
    };
  }

  get kind(): string {
    return 'failed';
  }
}

export class UsageError extends Failure {
  override readonly exitCode = exitCodes.usage;
  override get kind(): string {
    return 'usage';
  }
}

export class Unreachable extends Failure {
  override readonly exitCode = exitCodes.unreachable;
  override get kind(): string {
    return 'unreachable';
  }
}

/** Somebody is there, who takes no call just then. */
export class Closed extends Unreachable {}

/** The call was taken down, and is made once a second person has approved it. */
export class Waiting extends Failure {
  readonly approvalId: string;

  constructor({ id, expires_at }: Pick<Approval, 'id' | 'expires_at'>) {
    super(
      'Nothing was done yet: it waits for a second person.',
      [
        `Until ${expires_at}, somebody else approves it, also in the console (Settings, Approvals): porter approvals approve ${id}`,
        `Then you collect what it made: porter approvals collect ${id}`,
      ].join('\n'),
    );
    this.approvalId = id;
  }

  override toJSON(): object {
    return { ...super.toJSON(), approval_id: this.approvalId };
  }

  override get kind(): string {
    return 'waiting';
  }
}
