import type { ChangedKey, DocumentChange, RunChanges } from '../runs/run-store-items.ts'

/** So many characters of a value are told. */
export const VALUE_LENGTH = 300

/** The words over what changed, in every client. */
export const NOT_PLAIN = 'Not a plain start of the deployed document'

/** A line each, for people; the same words everywhere. */
export function changeLines({ overrides = [], context = [], document, above = [] }: RunChanges): readonly string[] {
  return [
    ...(document === undefined ? [] : [documentLine(document)]),
    ...overrides.map(({ port, value, sha256 }) => `Override: ${port} = ${whole(value, sha256)}`),
    ...context.map(contextLine),
    ...above.flatMap(({ run_id, dag_name, ...changes }) =>
      changeLines(changes).map((line) => `${line} (of run ${run_id} of ${dag_name}, which waits for this one)`),
    ),
  ]
}

/** Of a value that is longer than what is told of it, what tells it apart all the same. */
function whole(value = '', sha256: string | undefined): string {
  if (value.length < VALUE_LENGTH) return value
  return `${value}… (its first ${VALUE_LENGTH} characters${sha256 === undefined ? '' : `; SHA-256 ${sha256.slice(0, 12)}`})`
}

function contextLine({ key, version, by, value, sha256, from }: ChangedKey): string {
  const who = by === undefined ? '' : `, by ${by}`
  if (version > 0) return `Context patched: ${key} (version ${version}${who})`
  const whence =
    from === undefined ? 'given at the start' : `from run ${from}${by === undefined ? '' : `, patched by ${by}`}`
  return `Context set: ${key} = ${whole(value, sha256)} (${whence})`
}

/** What there is to compare with where no document of the name is deployed. */
export const NOT_DEPLOYED = 'none'

function documentLine({ of, added, removed, changed, other }: DocumentChange): string {
  if (of === NOT_DEPLOYED) return 'Not a deployed document: it came with the request, and none of its name is deployed'
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
