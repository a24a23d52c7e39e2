import { hostname } from 'node:os';

/** What this process is called, in the list of nodes and in the log. */
export const nodeName = () => `${hostname()}:${process.pid}`;
