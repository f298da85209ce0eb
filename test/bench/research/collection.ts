/** A collection with judgements: which documents answer which query, and how well. */
export interface Collection {
  readonly name: string
  /** `ad hoc`: documents about a matter. `hops`: the passages a question needs, all of them. */
  readonly kind: 'ad hoc' | 'hops'
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[]
  readonly queries: readonly {
    readonly text: string
    /** Grade by document, higher is better; what is not named is irrelevant. */
    readonly relevant: ReadonlyMap<string, number>
  }[]
}

/** Every other query is for choosing constants, the rest for reporting. */
export type Half = 'chosen on' | 'untouched'

export function inHalf(at: number): Half {
  return at % 2 === 0 ? 'chosen on' : 'untouched'
}
