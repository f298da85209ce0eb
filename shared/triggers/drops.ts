import type { ObjectTrigger } from './trigger.ts'

/** One version of what somebody dropped: a file of the inputs folder, an object of the stage's bucket for it. */
export interface Dropped {
  /** `inbox/2026/orders.csv`. */
  readonly key: string
  /** Another one each time it is written: S3's version id; of a file its size and when it was changed. */
  readonly version: string
  /** ISO time it came. */
  readonly at: string
}

/** `gone`: this version is not there any more. */
export type DroppedBody =
  | { readonly is: 'there'; readonly body: Uint8Array }
  | { readonly is: 'gone' }
  | { readonly is: 'too_large'; readonly bytes: number }

/**
 * What people drop for triggers. It is only read: what becomes of it there is theirs. Suite: test/conformance/drops-suite.ts.
 * Faults: those of the place.
 */
export interface Drops {
  /** Exactly this version, where it has no more than `most_bytes`. */
  read(object: Pick<Dropped, 'key' | 'version'>, most_bytes: number): Promise<DroppedBody>
}

/** Whether an object of this key is one it fires for. */
export function isOfTrigger({ object: { prefix, suffix } }: Pick<ObjectTrigger, 'object'>, key: string): boolean {
  // They do not overlap: `in.csv` does not both begin with `in.c` and end with `.csv`.
  return key.length >= prefix.length + suffix.length && key.startsWith(prefix) && key.endsWith(suffix)
}

/** Name of an object without its folders. */
export function nameOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}
