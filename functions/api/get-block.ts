import { isActing } from '../../shared/agents/agent-items.ts'
import { type BlockAttempt, type BlockCallAnswer, GET_BLOCK } from '../../shared/api/run-data-routes.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type RecordedParts, recordedInputs } from '../../shared/invariants/reconstruct-inputs.ts'
import { RawAnswersSchema, type RecordedCallWithPrompt } from '../../shared/providers/recording.ts'
import { passesOfBlock } from '../../shared/runs/block-passes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { approvalEpoch } from '../../shared/runs/ids.ts'
import type { BlockFold, RunFold, StepFold } from '../../shared/runs/run-fold.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import { agentItemWords } from '../../shared/runs/turns-and-calls.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { attemptEvents, viewAttempt } from '../../shared/views/attempt.ts'
import { httpHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readLog } from '../record/run-log.ts'
import { readPatiently } from '../record/stored-run.ts'
import { requireBlock, requireRun } from '../require-run.ts'

/** What a block was given, asked and answered in each of its attempts: folded from events, values read where they lie. */
export const handler = httpHandler({
  name: 'get-block',
  schema: GET_BLOCK,
  run: async (call, world) => {
    const { block_id } = call.params
    const { item } = call.query
    const { run } = await requireRun(world, call)
    const { meta, dag } = await readPinned(world, run)
    const block = requireBlock(dag, block_id)
    const [approvals, context] = [await world.runs.approvals(run), await world.runs.context(run)]
    const { events, fold } = await readLog(world, run)
    if (item !== undefined) requireItem(block, item, fold.blocks[block_id])
    const read = readPatiently(world, run.tenant)
    const parts = { events, dag, meta, context: context ?? { version: 0, values: {} }, read, approvals }
    const attempts = await viewAttempts(parts, block, item, fold)
    const own = { run_id: run.run_id, block_id, ...(item === undefined ? {} : { item }) }
    return { json: { ...own, ...stateOf(fold, block_id, item), definition: { ...block }, ...attempts } }
  },
})

function stateOf(fold: RunFold, block_id: string, item: number | undefined) {
  const block = fold.blocks[block_id]
  const unseen = { state: fold.state === 'running' ? 'pending' : 'cancelled', attempt: 0 }
  const { state, attempt } = (item === undefined ? block : block?.items?.[item]) ?? unseen
  return { state, attempt, epoch: block?.epoch ?? 0 }
}

function requireItem(of: Block, item: number, block: BlockFold | undefined): void {
  const { id, foreach } = of
  const acts = isActing(of)
  const count = block?.item_count ?? 0
  if (acts ? block?.items?.[item] !== undefined : foreach !== undefined && item < count) return
  if (acts) throw unknownAgentItem(id, item, block)
  const seen = foreach === undefined ? 'it goes over no list (it has no foreach)' : itemsOf(count)
  throw new Fault('NotFound', 'unknown_item', `Cannot find item ${item} of block "${id}": ${seen}.`)
}

function unknownAgentItem(id: string, item: number, block: BlockFold | undefined): Fault {
  const begun = Object.keys(block?.items ?? {}).length
  const seen =
    begun === 0 ? 'none of its turns has begun' : `of its turns and calls ${begun} have begun, and this is none`
  return new Fault('NotFound', 'unknown_item', `Cannot find ${agentItemWords(item)} of block "${id}": ${seen}.`)
}

function itemsOf(count: number): string {
  return count === 0 ? 'it has begun with none yet' : `it began with ${count}, numbered from 0 to ${count - 1}`
}

/** Attempts in one answer. */
const MOST = 50

/**
 * Of all texts and values in one answer, in characters: a function answers at most 6 MB, and a character may take six
 * bytes. The newest attempts come first; where the room ends values are told by their hashes, texts are cut.
 */
const ROOM = 900_000

/** The attempts of a block, or of one item of it, that one answer has room for. */
async function viewAttempts(
  sources: InputSources,
  block: Block,
  item: number | undefined,
  fold: RunFold,
): Promise<{ readonly attempts: readonly BlockAttempt[]; readonly attempts_cut: boolean }> {
  const parts = { ...sources, read: once(sources.read) }
  const steps = fold.steps.filter((step) => step.block_id === block.id && step.item === item)
  const ofBlock = parts.events.filter(({ block_id }) => block_id === block.id)
  const room = { left: ROOM }
  const attempts: BlockAttempt[] = []
  for (const step of steps.slice(-MOST).toReversed()) {
    const own = attemptEvents(ofBlock, step)
    const calls = await attemptCalls(parts.read, own, room)
    const inputs = await attemptInputs(parts, block, step, own, room)
    attempts.unshift({ ...viewAttempt(step, own, fold), ...inputs, ...calls })
  }
  return { attempts, attempts_cut: steps.length > MOST }
}

/** Attempts share most of what they were given. */
function once(read: InputSources['read']): InputSources['read'] {
  const known = new Map<string, ReturnType<typeof read>>()
  return (ref) => {
    const found = known.get(ref) ?? read(ref)
    known.set(ref, found)
    return found
  }
}

/** Characters of one text. */
const MOST_TEXT = 65_536

/** What the models of an attempt were asked and answered, its judges last, as it was recorded. */
async function attemptCalls(
  read: InputSources['read'],
  own: readonly RunEvent[],
  room: Room,
): Promise<Pick<BlockAttempt, 'calls' | 'calls_cut'>> {
  const calls: BlockCallAnswer[] = []
  let calls_cut = false
  for (const { ref, gate } of own.flatMap(recordedBy)) {
    const kept = await keptCalls(read, ref)
    calls_cut ||= kept === undefined
    for (const call of kept ?? []) {
      calls_cut ||= calls.length >= MOST || room.left <= 0
      if (!calls_cut) calls.push(shownCall(call, gate, room))
    }
  }
  return { calls, calls_cut }
}

/** Undefined = the object is gone. */
async function keptCalls(
  read: InputSources['read'],
  ref: string,
): Promise<readonly RecordedCallWithPrompt[] | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : RawAnswersSchema.parse(JSON.parse(Buffer.from(body).toString())).calls
}

function recordedBy(event: RunEvent): readonly { readonly ref: string; readonly gate?: string }[] {
  if (event.type !== 'block:output' && event.type !== 'block:gate') return []
  const { raw_ref: ref } = event.data
  if (ref === undefined) return []
  return [event.type === 'block:gate' ? { ref, gate: event.data.gate } : { ref }]
}

function shownCall(call: RecordedCallWithPrompt, gate: string | undefined, room: Room): BlockCallAnswer {
  const { provider, prompt_hash, answer, asked } = call
  const texts = {
    ...(asked?.system === undefined ? {} : { system: asked.system }),
    ...promptOf(call),
    answer: answer.text,
  }
  let isCut = asked?.cut === true
  const fitting = Object.entries(texts).map(([name, text]) => {
    const fits = text.slice(0, Math.min(MOST_TEXT, room.left)).toWellFormed()
    room.left -= fits.length
    isCut ||= fits.length < text.length
    return [name, fits]
  })
  const { tokens_in, tokens_out, usd = null, model, finish_reason, note } = answer
  return {
    ...(gate === undefined ? {} : { gate }),
    provider,
    model,
    prompt_hash,
    ...(Object.fromEntries(fitting) as typeof texts),
    ...(isCut ? { cut: true } : {}),
    tokens_in,
    tokens_out,
    usd,
    finish_reason,
    ...(note === undefined ? {} : { note }),
  }
}

function promptOf({ asked }: RecordedCallWithPrompt): { readonly prompt?: string } {
  return asked === undefined ? {} : { prompt: asked.prompt }
}

/** What the inputs of attempts are told from. */
interface InputSources extends RecordedParts {
  readonly approvals: readonly ApprovalItem[]
}

/** Characters that one answer still has room for. */
interface Room {
  left: number
}

type Values = Readonly<Record<string, Json>>
type Shown = Pick<BlockAttempt, 'inputs' | 'input_refs' | 'inputs_verified'>

/** Values above this are told by hash and size. */
const MAX_VALUE_BYTES = 65_536

/** The values that have the hash the attempt began with; else those it would be given now, and it is said. */
async function attemptInputs(
  parts: InputSources,
  block: Block,
  step: StepFold,
  own: readonly RunEvent[],
  room: Room,
): Promise<Shown> {
  const started = own.find(({ type }) => type === 'block:started')
  if (started?.type !== 'block:started') return { inputs_verified: false }
  let now: Values | undefined
  for (const candidate of [() => resolvedAgain(parts, block, step, started), ...keptInputs(parts, step, own)]) {
    const values = await candidate()
    if (values === undefined) continue
    if (sha256(canonicalJson(values)) === started.data.inputs_hash) {
      return { ...shown(values, parts.events, room), inputs_verified: true }
    }
    now ??= values
  }
  return { ...(now === undefined ? {} : shown(now, parts.events, room)), inputs_verified: false }
}

async function resolvedAgain(parts: InputSources, block: Block, step: StepFold, started: RunEvent) {
  const pass = passesOfBlock(parts.events, block.id).find(({ item, epoch }) => {
    return item === step.item && epoch === step.epoch
  })
  return pass === undefined ? undefined : recordedInputs(parts, pass, block, started)
}

/** A context that is patched moves nothing a person was asked about: what they were shown is kept with the question. */
function keptInputs(
  { approvals, read, events }: InputSources,
  { block_id, epoch }: StepFold,
  own: readonly RunEvent[],
): readonly (() => Promise<Values | undefined>)[] {
  const asked = own.flatMap((event) => (event.type === 'block:asked' ? (event.data.inputs_ref ?? []) : []))
  const before = approvals.flatMap(({ id, block_id: of, inputs_ref }) => {
    return of === block_id && approvalEpoch(id) === epoch && inputs_ref !== undefined ? [{ id, inputs_ref }] : []
  })
  return [
    ...asked.map((ref) => async () => (await readObject(read, ref))?.values as Values | undefined),
    ...before.map(({ id, inputs_ref }) => async () => {
      const values = (await readObject(read, inputs_ref))?.values as Values | undefined
      const edits = await editsOf(read, events, id)
      return values === undefined || edits === undefined ? undefined : { ...values, ...edits }
    }),
  ]
}

async function editsOf(read: InputSources['read'], events: readonly RunEvent[], id: string) {
  const decided = events.findLast((event) => event.type === 'approval:decided' && event.data.approval_id === id)
  const ref = decided?.type === 'approval:decided' ? decided.data.edits_ref : undefined
  return ref === undefined ? {} : ((await readObject(read, ref)) as Values | undefined)
}

async function readObject(read: InputSources['read'], ref: string): Promise<Record<string, unknown> | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : JSON.parse(Buffer.from(body).toString('utf8'))
}

function shown(values: Values, events: readonly RunEvent[], room: Room): Pick<Shown, 'inputs' | 'input_refs'> {
  const inputs: Record<string, Json> = {}
  const refs: NonNullable<Shown['input_refs']> = {}
  for (const [port, value] of Object.entries(values)) {
    const text = canonicalJson(value)
    const bytes = Buffer.byteLength(text)
    if (bytes <= MAX_VALUE_BYTES && text.length <= room.left) {
      inputs[port] = value
      room.left -= text.length
    } else {
      const hash = sha256(text)
      const ref = refOf(events, hash)
      refs[port] = { ...(ref === undefined ? {} : { ref }), sha256: hash, bytes }
    }
  }
  return { inputs, ...(Object.keys(refs).length === 0 ? {} : { input_refs: refs }) }
}

/** Where a block of the run stored exactly this value. */
function refOf(events: readonly RunEvent[], hash: string): string | undefined {
  for (const event of events) {
    if (event.type !== 'block:output') continue
    const same = Object.values(event.data.outputs).find((stored) => stored.sha256 === hash)
    if (same !== undefined) return same.ref
  }
  return undefined
}
