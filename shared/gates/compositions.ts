/**
 * The keys a check may compose others by; each is the type name of its verdict too (docs/gates.md). `list` has the
 * checks, `all` are the keys that may stand together in a document, `words` are for the reference and for editors.
 */
export const COMPOSITIONS = {
  any_of: { list: 'any_of', all: ['any_of', 'not'], words: 'Passes when at least one of its checks does.' },
  all_of: { list: 'all_of', all: ['all_of', 'not'], words: 'Passes when every one of its checks does.' },
  at_least: {
    list: 'of',
    all: ['at_least', 'of', 'not'],
    words: 'Passes when at least that many of the checks below `of` do.',
  },
} as const satisfies Readonly<
  Record<string, { readonly list: string; readonly all: readonly string[]; readonly words: string }>
>

export type Composition = keyof typeof COMPOSITIONS

/** Of one gate: compositions within each other, and the checks of gate types in them. */
export const PART_LIMITS = { depth: 5, leaves: 50 } as const

/** The composition of that name. */
export function compositionOf(name: unknown): Composition | undefined {
  // The keys of COMPOSITIONS are its names; Object.keys answers plain texts.
  return (Object.keys(COMPOSITIONS) as Composition[]).find((known) => known === name)
}
