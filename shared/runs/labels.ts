/** What people call a run by, to find it again: `team: growth` (docs/runs.md, "Labels"). */
export type Labels = Readonly<Record<string, string>>

export const LABEL_LIMITS = { labels: 20, value_characters: 100 } as const

export const LABEL_KEY = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/
/** Nothing that cannot be seen, and no space at an end: two values that look the same are the same. */
export const LABEL_VALUE = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u

/** Labels of several, the later ones over the earlier, by key in order. */
export function joinLabels(...all: readonly (Labels | undefined)[]): Labels {
  const joined = new Map(all.flatMap((labels) => Object.entries(labels ?? {})))
  return Object.fromEntries([...joined].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Of a child run: those of the run above it, and of its document's as many as there is room for. */
export function childLabels(above: Labels, own: Labels | undefined): Labels {
  const more = Object.entries(own ?? {}).filter(([key]) => !Object.hasOwn(above, key))
  const room = Math.max(0, LABEL_LIMITS.labels - Object.keys(above).length)
  return joinLabels(above, Object.fromEntries(more.slice(0, room)))
}

/** The labels of a run since somebody changed them; the version goes up with each change. */
export interface ChangedLabels {
  readonly version: number
  readonly values: Labels
}

/** As they are now. */
export function currentLabels(meta: { readonly labels?: Labels }, head: { readonly labels?: ChangedLabels }): Labels {
  return head.labels?.values ?? meta.labels ?? {}
}

export interface LabelChange {
  readonly set?: Labels | undefined
  readonly remove?: readonly string[] | undefined
}

export function changeLabels(labels: Labels, { set = {}, remove = [] }: LabelChange): Labels {
  const kept = Object.entries(labels).filter(([key]) => !remove.includes(key))
  return joinLabels(Object.fromEntries(kept), set)
}

/** `team=growth stage=prod`, for a line. */
export function labelWords(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')
}

/** What somebody wrote to a run, or how they changed its labels: beside its record, also after its end. */
export interface RunNote {
  /** `note_` and 16 digits of its hash. */
  readonly id: string
  /** ISO time. */
  readonly at: string
  readonly by: string
  /** Who that is, where it is another name of theirs. */
  readonly person?: string
  readonly text?: string
  readonly labels?: { readonly set: Labels; readonly removed: readonly string[] }
}

export const NOTE_LIMITS = { notes: 500, characters: 2_000 } as const
