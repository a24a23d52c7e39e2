/** Who is signed in, as early.ts has asked. */
declare var askedEarly: Promise<Response> | undefined;
