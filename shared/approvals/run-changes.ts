/**
 * In what a run differs from a plain start of its deployed document: shown first to whoever decides, in the inbox, in
 * Slack, by the CLI, in the console and in GET run (docs/approvals.md, "What a decision binds").
 */
export interface RunChanges {
  /** `value`: as JSON, its first 300 characters. */
  readonly overrides?: readonly { readonly port: string; readonly value: string; readonly sha256: string }[] | undefined
  /** Keys that were patched since the run began. */
  readonly context?:
    | readonly { readonly key: string; readonly version: number; readonly by?: string | undefined }[]
    | undefined
  readonly document?: DocumentChange | undefined
}

export interface DocumentChange {
  /** `deployed`, or the run whose document it was. */
  readonly of: string
  /** Of that one. */
  readonly dag_hash: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Blocks whose definition is another one. */
  readonly changed: readonly string[]
  /** Something outside of its blocks differs. */
  readonly other: boolean
}

/** A line each, for people; the same words everywhere. */
export function changeLines({ overrides = [], context = [], document }: RunChanges): readonly string[] {
  return [
    ...(document === undefined ? [] : [documentLine(document)]),
    ...overrides.map(({ port, value }) => `Override: ${port} = ${value}`),
    ...context.map(
      ({ key, version, by }) => `Context patched: ${key} (version ${version}${by === undefined ? '' : `, by ${by}`})`,
    ),
  ]
}

function documentLine({ of, added, removed, changed, other }: DocumentChange): string {
  const what = of === 'deployed' ? 'the deployed document' : `the document of run ${of}`
  const parts = [
    ...part('blocks changed', changed),
    ...part('added', added),
    ...part('removed', removed),
    ...(other ? ['other parts differ'] : []),
  ]
  return `Another document than ${what}: ${parts.join('; ') || 'the same blocks in other words'}`
}

function part(word: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return []
  const more = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  return [`${word}: ${ids.slice(0, 20).join(', ')}${more}`]
}
