/** A collection with judgements: which documents answer which query, and how well. */
export interface Collection {
  readonly name: string
  readonly documents: readonly { readonly id: string; readonly title: string; readonly text: string }[]
  readonly queries: readonly {
    readonly text: string
    /** Grade by document, higher is better; what is not named is irrelevant. */
    readonly relevant: ReadonlyMap<string, number>
  }[]
}
