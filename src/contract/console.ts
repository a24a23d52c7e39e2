import { z } from 'zod';
import { text } from './fields.ts';

/** What the console sends to be let in: the token of an operator, or of an invitation. It is no part of the API: its answers are cookies. */

const TOKEN_MAX = 1_024;

export const tokenBody = z.strictObject({ token: text({ min: 1, max: TOKEN_MAX }) });
