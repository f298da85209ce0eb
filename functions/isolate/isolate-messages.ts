import type { Json } from '../../shared/canonical.ts'
import type { Isolate } from '../../shared/isolate.ts'

/** What a child is started for. */
export type JobKind = Parameters<Isolate['run']>[0]

export interface Job {
  readonly program: Json
  readonly input: Json
}

/** `text` is the JSON of the answer: made in the child, so that its size and its cost are the child's. */
export type Reply = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }
