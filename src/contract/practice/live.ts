import { defineEndpoint } from '../endpoint.ts';
import { liveNews, liveText } from '../live.ts';

export const practiceLiveKinds = ['partners', 'activity'] as const;

export const streamPracticeLive = defineEndpoint({
  operationId: 'streamPracticeLive',
  method: 'GET',
  path: '/practice/v1/live',
  tag: 'My practice',
  summary: 'Stream what has changed',
  description: liveText('of the practice, and of no other,'),
  extension: true,
  access: { guests: 'practice' },
  response: {
    status: 200,
    description: 'What has changed, as it changes.',
    stream: true,
    body: liveNews(
      'PracticeNews',
      practiceLiveKinds,
      'partners: a stop, a key or a network of the practice was changed. activity: something of the practice was read, changed or sent.',
    ),
  },
  problems: ['conflict'],
});
