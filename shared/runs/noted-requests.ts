/** A request from outside that may come more than once: the route, and what makes it the same one. */
export interface NotedRequest {
  readonly tenant: string
  readonly route: string
  readonly key: string
}

/** Known for a day. */
export interface NotedRequests {
  /** ONE conditional write: `first` once; later `open` until what it asked for was done, then `done`. */
  noteRequest(request: NotedRequest): Promise<'first' | 'open' | 'done'>
  endRequest(request: NotedRequest): Promise<void>
}
