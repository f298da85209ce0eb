import { sha256 } from '../../canonical.ts'
import { inTurns } from './in-turns.ts'
import { invariant } from './invariant.ts'

const READ_AT_ONCE = 16
const REF = /^objstore:\/\/[^/]+\/([0-9a-f]{64})$/

export const refs = invariant({
  n: 21,
  title: 'every object a run names is there and has the hash and the size it is named with',
  of: 'objects',
  needs: ['events', 'meta', 'read'],
  async check({ events, meta, projections = [], approvals = [], artifacts = [], read }) {
    const named = new Map<string, Named>()
    for (const event of events) collect(event.data, `event ${event.seq}`, named)
    const { dag_ref, goal, pivots } = meta
    collect({ dag_ref, goal, pivots }, 'META', named)
    for (const one of projections) collect(one, `the projection of block ${one.block}`, named)
    for (const one of approvals) collect(one.shown, `approval ${one.id}`, named)
    for (const one of artifacts) collect(one, `artifact ${one.name}`, named)
    const found = await inTurns([...named.values()], READ_AT_ONCE, async (one) => problemOf(one, await read(one.ref)))
    return found.flat()
  },
})

/** What some data names. */
export function namedObjects(data: unknown): Iterable<Named> {
  const named = new Map<string, Named>()
  collect(data, '', named)
  return named.values()
}

interface Named {
  readonly ref: string
  readonly by: string
  readonly sha256?: unknown
  readonly bytes?: unknown
}

/** Every `ref` and `.._ref`; the facts of a verdict are a gate's own words, which may name what is not there. */
function collect(value: unknown, by: string, named: Map<string, Named>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'string') note(value, key, member, by, named)
    else if (key !== 'facts') collect(member, by, named)
  }
}

/** The same object may be named with another size elsewhere: that is another thing to find out. */
function note(
  beside: { readonly sha256?: unknown; readonly bytes?: unknown },
  key: string,
  ref: string,
  by: string,
  named: Map<string, Named>,
): void {
  if (key === 'ref') named.set(`${ref} ${beside.sha256} ${beside.bytes}`, { ...beside, ref, by })
  else if (key.endsWith('_ref')) named.set(ref, { ref, by })
}

function problemOf({ ref, by, sha256: told, bytes }: Named, body: Uint8Array | undefined): readonly string[] {
  const [, hash] = REF.exec(ref) ?? []
  if (hash === undefined) return [`${by} names "${ref}", which is no ref`]
  if (body === undefined) return [`${by} names ${ref}, which is not there or damaged`]
  const wrong: string[] = []
  if (sha256(body) !== hash) wrong.push(`${by} names ${ref}, whose content has another hash`)
  if (told !== undefined && told !== hash) wrong.push(`${by} names ${ref} with the hash ${told}`)
  if (bytes !== undefined && bytes !== body.byteLength)
    wrong.push(`${by} names ${ref} with ${bytes} bytes, it has ${body.byteLength}`)
  return wrong
}
