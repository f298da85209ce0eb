import type { KnownThing, ThingSet } from './thing-set.ts'

/** Whether a thing fits a condition; undefined: it states nothing of it. */
export type Fits = (thing: KnownThing) => boolean | undefined

/** A fact of a thing, by its predicate. */
interface Proof {
  readonly entity_id: string
  readonly predicate: string
}

export interface SetCondition {
  readonly fits: Fits
  /** What says whether a thing fits. */
  readonly proofs: (thing: KnownThing) => readonly Proof[]
}

/** The question with names as `@0`, numbers and words in small letters; what stood before its last sentence apart. */
export interface Reading {
  readonly text: string
  readonly names: readonly (readonly KnownThing[])[]
  readonly before: string
  readonly set: ThingSet
}

export type ReadCondition = SetCondition & {
  /** Named things it holds of. */
  readonly related: readonly string[]
  /** Named things a thing is not held against where it is one of them. */
  readonly selves?: readonly string[]
}
