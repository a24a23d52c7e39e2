import {
  streamLive as liveEndpoint,
  listNodes as nodesEndpoint,
  listSettings as settingsEndpoint,
} from '../../contract/operator/oversight/deployment.ts';
import { NODE_GONE_MS } from '../../runtime/oversight/nodes.ts';
import { transact } from '../../store/database.ts';
import { listNodesSince } from '../../store/oversight/nodes.ts';
import { operation } from '../app.ts';

export const listSettings = operation(
  settingsEndpoint,
  ({ environment, deployment: { version, settings } }, _call) => {
    return { body: { environment, version, data: [...settings] } };
  },
);

export const listNodes = operation(nodesEndpoint, async (app, { principal }) => {
  const since = new Date(app.clock.now() - NODE_GONE_MS).toISOString();
  const nodes = await transact(app.db, principal, (tx) => listNodesSince(tx, since));
  const workOf = (node: (typeof nodes)[number]) => node.calls_per_minute + node.deliveries_per_minute;
  const all = nodes.reduce((sum, node) => sum + workOf(node), 0);
  const data = nodes.map((node) => ({
    ...node,
    share_percent: all === 0 ? null : Math.round((workOf(node) / all) * 1000) / 10,
    answering: node.id === app.deployment.nodeId,
  }));
  return { body: { data, count: data.length } };
});

export const streamLive = operation(liveEndpoint, (app, { principal, stillAdmitted }) => {
  return { stream: app.live.follow({ kind: 'operator', person: principal.operatorId }, stillAdmitted) };
});
