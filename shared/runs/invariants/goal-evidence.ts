import type { Json } from '../../canonical.ts'
import type { CompletionRequest } from '../../goals/evaluate-completion.ts'
import type { EvidenceArtifact, EvidenceText } from '../../goals/evidence.ts'
import type { RunEvent } from '../event.ts'
import { foldRun } from '../fold.ts'
import type { RunParts } from './stored-run.ts'

type Parts = Pick<RunParts, 'events' | 'meta' | 'read'>

/**
 * Whether what a run was judged by is what it made: each text an output of the event it is said to be of, in an attempt
 * that stood when it was judged (event `seq`), each artifact an object of its bytes.
 */
export async function evidenceProblems(
  run: Parts,
  seq: number,
  { texts, artifacts }: Pick<CompletionRequest, 'texts' | 'artifacts'>,
): Promise<readonly string[]> {
  const wrong: string[] = []
  const before = { ...run, events: run.events.slice(0, seq - 1) }
  const known = new Map<number, ReadonlySet<string>>()
  for (const text of texts) {
    const of = text.seq ?? 0
    const said = known.get(of) ?? (await saidBy(before, text))
    known.set(of, said)
    if (!said.has(text.text)) wrong.push(`block "${text.block}" did not say in event ${of} what it was judged by`)
  }
  for (const artifact of artifacts) wrong.push(...(await artifactProblems(run, artifact)))
  return wrong
}

/** The strings in the outputs of that event; of an attempt that did not stand none. */
async function saidBy({ events, read }: Parts, text: EvidenceText): Promise<ReadonlySet<string>> {
  const said = new Set<string>()
  for (const ref of standingRefs(events, text)) {
    const body = await read(ref)
    const value: Json = body === undefined ? null : JSON.parse(Buffer.from(body).toString('utf8'))
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === 'string') said.add(one)
  }
  return said
}

function standingRefs(events: readonly RunEvent[], { seq, block: id = '' }: EvidenceText): readonly string[] {
  const event = events.find((one) => one.seq === seq)
  if (event?.type !== 'block:output' || event.block_id !== id || event.item !== undefined) return []
  const { blocks } = foldRun(events)
  const block = Object.hasOwn(blocks, id) ? blocks[id] : undefined
  if (block?.state !== 'completed' || event.attempt !== block.attempt) return []
  return Object.values(event.data.outputs).map(({ ref }) => ref)
}

async function artifactProblems({ meta, read }: Parts, artifact: EvidenceArtifact): Promise<readonly string[]> {
  const { name, bytes, sha256 } = artifact
  const body = await read(`objstore://${meta.tenant}/${sha256}`)
  return body?.byteLength === bytes ? [] : [`artifact "${name}" it was judged by is not there, or has other bytes`]
}
