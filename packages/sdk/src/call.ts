/** What came back, with what stood beside it. */
export interface Answer<T> {
  data: T;
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** Send it back as `ifMatch` to change only what you saw. */
  etag: string | undefined;
}

/** A call under way: await it for the data, or `withResponse()` for the headers too. */
export class Call<T> implements Promise<T> {
  readonly #answer: Promise<Answer<T>>;
  readonly [Symbol.toStringTag] = 'Call';

  constructor(answer: Promise<Answer<T>>) {
    this.#answer = answer;
  }

  withResponse(): Promise<Answer<T>> {
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  then<A = T, B = never>(
    onData?: ((data: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(({ data }) => data).then(onData, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }
}

export interface PageOf<Item> {
  data: Item[];
  next_cursor: string | null;
  /** The event feed has it: its last page has a `next_cursor`, too. */
  has_more?: boolean;
}

/** One page when awaited; with `for await`, every entry from here to the end, a page at a time. */
export class PageCall<Item, Page extends PageOf<Item>> extends Call<Page> implements AsyncIterable<Item> {
  readonly #next: (cursor: string, isFeed: boolean) => PageCall<Item, Page>;

  constructor(
    answer: Promise<Answer<Page>>,
    next: (cursor: string, isFeed: boolean) => PageCall<Item, Page>,
  ) {
    super(answer);
    this.#next = next;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** The pages themselves, with their cursors. */
  async *pages(): AsyncGenerator<Page, void> {
    for (let call: PageCall<Item, Page> = this; ; ) {
      const { data: page } = await call.withResponse();
      yield page;
      if (page.next_cursor === null || page.has_more === false) return;
      call = this.#next(page.next_cursor, page.has_more !== undefined);
    }
  }
}
