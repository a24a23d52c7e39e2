import { queryClient } from '../api/client.ts';

/**
 * Whether somebody is there. Each call is a use of the session, also one that a page makes by itself to be fresh: a page that is left open on a
 * desk would keep its session from ending. So it asks for nothing by itself once nobody has touched it for a while, and for everything when
 * somebody does again.
 */
const ATTENDED_MS = 5 * 60_000;

let touchedAt = performance.now();
const wasTouched = () => performance.now() - touchedAt < ATTENDED_MS;

/** Nobody looks at a hidden tab: it asks when it is seen again. */
export const isAttended = () => !document.hidden && wasTouched();

function touch(): void {
  const isBack = !wasTouched();
  touchedAt = performance.now();
  if (isBack) void queryClient.refetchQueries({ type: 'active', stale: true });
}

for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel'])
  addEventListener(kind, touch, { capture: true, passive: true });
