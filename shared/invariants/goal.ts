import { type CompletionRequest, evaluateCompletion, type GoalEvaluation } from '../goals/completion.ts'
import type { EvidenceArtifact, EvidenceText } from '../goals/evidence.ts'
import { goalEnding } from '../goals/goal-ending.ts'
import type { EventData, RunEvent } from '../runs/event.ts'
import { isRunEnd } from '../runs/event-types.ts'
import { foldRun } from '../runs/fold-run.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { defineInvariant, type RunParts } from './invariant.ts'

type Parts = Pick<RunParts, 'events' | 'meta' | 'read'>
type Evaluated = Extract<RunEvent, { readonly type: 'goal:evaluated' }>
type End = EventData<'run:completed'>

export const goal = defineInvariant({
  n: 31,
  title: 'a run with a goal ends as its one evaluation says, which comes out again from what it was judged by',
  of: 'objects',
  needs: ['events', 'meta', 'read'],
  async check(run) {
    const { events, meta } = run
    const evaluated = events.filter((event): event is Evaluated => event.type === 'goal:evaluated')
    const last = events.at(-1)
    const end = last !== undefined && isRunEnd(last.type) ? last : undefined
    if (meta.goal === undefined) return goallessProblems(evaluated, end)
    const [first, ...more] = evaluated
    const twice = more.map(({ seq }) => `event ${seq} evaluates the goal again`)
    if (first === undefined) return [...startProblems(run), ...unjudgedProblems(end)]
    return [...startProblems(run), ...twice, ...(await evaluationProblems(run, first, end))]
  },
})

function goallessProblems(evaluated: readonly Evaluated[], end: RunEvent | undefined): readonly string[] {
  const wrong = evaluated.map(({ seq }) => `event ${seq} evaluates a goal, and the run has none`)
  if (end !== undefined && (end.type === 'run:partial' || end.type === 'run:blocked')) {
    wrong.push(`event ${end.seq} ${end.type}, and the run has no goal`)
  }
  return wrong
}

/** Its first event and META name the contract it was started with, and the object is that contract. */
function startProblems({ events: [started], meta }: Parts): readonly string[] {
  const { contract_hash, contract_ref } = meta.goal ?? {}
  const told = started?.type === 'run:started' ? started.data.goal?.contract_hash : undefined
  const wrong: string[] = []
  if (told !== contract_hash) wrong.push(`event 1 names the contract ${told}, META ${contract_hash}`)
  if (contract_ref?.slice(-64) !== contract_hash)
    wrong.push(`META names ${contract_ref} as the contract ${contract_hash}`)
  return wrong
}

/** Nobody judged it: then it did not reach its goal, and says so. */
function unjudgedProblems(end: RunEvent | undefined): readonly string[] {
  if (end === undefined) return []
  const fits: Readonly<Record<string, End['final_status']>> = { 'run:failed': 'FAILED', 'run:cancelled': 'ABORTED' }
  // isRunEnd() found it: it has the data of an end.
  const { final_status } = end.data as End
  if (end.type === 'run:iterated' || (end.type in fits && final_status === fits[end.type])) return []
  return [`event ${end.seq} ${end.type} (${final_status}) without an evaluation`]
}

async function evaluationProblems(run: Parts, event: Evaluated, end: RunEvent | undefined): Promise<readonly string[]> {
  const { ref } = event.data
  const body = ref === undefined ? undefined : await run.read(ref)
  if (body === undefined) return [`the evaluation of event ${event.seq} is not there`]
  const stored = JSON.parse(Buffer.from(body).toString('utf8')) as GoalEvaluation
  return [
    ...eventProblems(event, stored),
    ...contractProblems(run, stored),
    ...againProblems(stored),
    ...endProblems(stored, end),
    ...(await evidenceProblems(run, event.seq, stored.request)),
  ]
}

function eventProblems({ seq, data }: Evaluated, { completion }: GoalEvaluation): readonly string[] {
  const { goal_status, met_count, total_count, row, trust_passed, quality, final_status, action, pivot } = completion
  const said = { status: goal_status, met: met_count, total: total_count, row, attempt: pivot.attemptNumber }
  const whole = { ...said, trust_passed, quality_passed: quality.passed, final_status, action }
  const wrong = Object.entries(whole).filter(([key, value]) => data[key as keyof typeof data] !== value)
  return wrong.map(([key]) => `event ${seq} has another ${key} than the evaluation it names`)
}

function contractProblems({ meta }: Parts, { request, contract_hash }: GoalEvaluation): readonly string[] {
  const frozen = meta.goal?.contract_hash
  // Stored as JSON, read from JSON.
  const used = request.contract === undefined ? undefined : sha256(canonicalJson(request.contract as Json))
  return used === frozen && contract_hash === frozen
    ? []
    : [`it was judged by the contract ${used}, frozen is ${frozen}`]
}

function againProblems({ completion, goal: judged, trust, request }: GoalEvaluation): readonly string[] {
  const again = evaluateCompletion(request)
  return same(again, { completion, goal: judged, trust })
    ? []
    : ['the evaluation comes out otherwise from what was judged']
}

/** As they are stored: without members that are undefined. */
function same(a: unknown, b: unknown): boolean {
  return canonicalJson(JSON.parse(JSON.stringify(a))) === canonicalJson(JSON.parse(JSON.stringify(b)))
}

/** A run may be stopped after it was judged; else it ends as that says. */
function endProblems({ completion }: GoalEvaluation, end: RunEvent | undefined): readonly string[] {
  if (end === undefined || end.type === 'run:cancelled' || end.type === 'run:failed') return []
  const { state, final_status, row } = goalEnding(completion, '')
  const told = end.data as End
  if (end.type === `run:${state}` && told.final_status === final_status && told.row === row) return []
  return [`event ${end.seq} ${end.type} (${told.final_status}, ${told.row}), judged was ${final_status}, ${row}`]
}

/**
 * Whether what a run was judged by is what it made: each text an output of the event it is said to be of, in an attempt
 * that stood when it was judged (event `seq`), each artifact an object of its bytes.
 */
async function evidenceProblems(
  run: Parts,
  seq: number,
  { texts, artifacts }: Pick<CompletionRequest, 'texts' | 'artifacts'>,
): Promise<readonly string[]> {
  const wrong: string[] = []
  const before = { ...run, events: run.events.slice(0, seq - 1) }
  const known = new Map<number, ReadonlySet<string>>()
  for (const text of texts) {
    const of = text.seq ?? 0
    const said = known.get(of) ?? (await textsInOutput(before, text))
    known.set(of, said)
    if (!said.has(text.text)) wrong.push(`block "${text.block}" did not say in event ${of} what it was judged by`)
  }
  for (const artifact of artifacts) wrong.push(...(await artifactProblems(run, artifact)))
  return wrong
}

/** The strings in the outputs of that event; of an attempt that did not stand none. */
async function textsInOutput({ events, read }: Parts, text: EvidenceText): Promise<ReadonlySet<string>> {
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
