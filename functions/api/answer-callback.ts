import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { checkOutputs } from '../../shared/runs/block-outputs.ts'
import { type CallbackPlace, isCallbackToken, readCallbackToken } from '../../shared/runs/callback-address.ts'
import { blockEpoch, blockOutcome, type Head } from '../../shared/runs/head.ts'
import { isOpenWait, laneKey, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { EVENT_LIMITS } from '../../shared/runs/outside-event.ts'
import { callbackValues } from '../../shared/runs/wait-outputs.ts'
import type { CallbackAnswer } from '../../shared/runs/wait-store.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { jsonProblem, readStrictJson } from '../../shared/text/strict-json.ts'
import type { World } from '../../shared/world.ts'
import { type HttpEvent, openHandler } from '../http-handler.ts'
import { type Pinned, readPinned } from '../record/pinned-run.ts'
import { openCountedStorage } from '../record/storage-quota.ts'
import { endByWhatIsKept, findWait } from '../runs/waits.ts'

/**
 * POST /api/callbacks/{token}: the answer to the callback of a block. Nobody is authenticated but by the address, which
 * this place signed; whatever is wrong with that, the caller reads the same 404. The answer is kept first, once, and then
 * ends the wait; one that comes before its wait is found by that.
 */
export const handler = openHandler('answer-callback', 200, takeAnswer)

async function takeAnswer(event: HttpEvent, world: World) {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (body.byteLength > EVENT_LIMITS.payload_bytes) throw tooLarge(body.byteLength)
  const place = await readPlace(world, event.pathParameters?.token ?? '')
  const called = await openCalled(world, place)
  const before = await world.waits.callback(place, place)
  if (before !== undefined) throw used(called, before)
  refuseOver(called)
  const value = readValue(event, body)
  const { outputs } = called.block
  const { problems } = checkOutputs(callbackValues(value, outputs), outputs)
  if (problems.length > 0) throw notFitting(called, problems)
  const at = new Date(world.clock.now()).toISOString()
  const storage = openCountedStorage(world, place, called.block.id)
  const payload = await storage.bounded.objects.put(place.tenant, Buffer.from(canonicalJson(value)))
  const mine = { at, payload }
  const kept = await world.waits.keepCallback(place, place, mine)
  if (canonicalJson(kept as unknown as Json) !== canonicalJson(mine as unknown as Json)) throw used(called, kept)
  await wake(world, called)
  return { status: 'taken', at, run_id: place.run_id, block_id: called.block.id }
}

/** What the address is of, if this place gave it out: nothing is said of why it did not. */
async function readPlace(world: World, token: string): Promise<CallbackPlace> {
  const place = readCallbackToken(token)
  const isKnown = place !== undefined && world.settings.tenants.includes(place.tenant)
  if (!isKnown || !isCallbackToken(await world.waits.signingKey(place.tenant), token, place)) throw notFound()
  return place
}

interface Called extends Pinned {
  readonly place: CallbackPlace
  readonly block: Block
  readonly head: Head
}

/** A run that is there no more has no callbacks. */
async function openCalled(world: World, place: CallbackPlace): Promise<Called> {
  const { tenant, run_id } = place
  const head = await world.runs.head({ tenant, run_id })
  if (head === undefined) throw notFound()
  const pinned = await readPinned(world, { tenant, run_id })
  const block = pinned.dag.blocks[place.block]
  if (block?.mode !== 'wait' || block.wait.kind !== 'callback') throw notFound()
  return { ...pinned, place, block, head }
}

function notFound(): Fault {
  return new Fault('NotFound', 'unknown_callback', 'Cannot take this answer: there is no callback of this address.')
}

function used({ block }: Called, { at, payload }: CallbackAnswer): Fault {
  const message = `Cannot take this answer: the callback of block "${block.id}" was answered at ${at}, and its address is good for one answer.`
  return new Fault('Conflict', 'callback_used', message, { facts: { at, sha256: payload.sha256, via: 'callback' } })
}

/** Nobody waits for it any more: the run or the block has ended, or the block was sent back, or its time was over. */
function refuseOver(called: Called): void {
  const { head, block, place } = called
  const lane = head.lanes[laneKey(place)] ?? 0
  const isOlder = blockEpoch(called, head, block.id) > place.epoch
  const isPast =
    readOrdinal(lane).epoch === place.epoch && readOrdinal(lane).phase >= PHASE.woken && !isTriedAgain(lane)
  const why =
    head.state !== 'running'
      ? `the run is ${head.state}`
      : isOlder
        ? 'the block was sent back since, and has another address'
        : isPast || blockOutcome(called, head, block.id) !== undefined
          ? 'its wait is over'
          : undefined
  if (why !== undefined) throw over(block, why)
}

function isTriedAgain(lane: number): boolean {
  return readOrdinal(lane).phase === PHASE.retrying
}

function over(block: Block, why: string): Fault {
  const message = `Cannot take this answer: nobody waits for the callback of block "${block.id}" any more, since ${why}.`
  return new Fault('Conflict', 'callback_over', message, { status: 410 })
}

function readValue(event: HttpEvent, body: Buffer): Json {
  const headers = Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const text = utf8(body)
  if (/^text\/plain\s*(?:;|$)/i.test(type)) return requireText(text)
  if (text === '' && type === '') return {}
  if (!/^application\/(?:[a-z.+-]+\+)?json\s*(?:;|$)/i.test(type)) throw unsupported(type)
  // The strict reader accepts JSON only.
  return readStrictJson(text) as Json
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault('InvalidInput', 'not_utf8', 'Cannot read the body: it is not valid UTF-8.', { cause })
  }
}

function requireText(text: string): string {
  const problem = jsonProblem(text)
  if (problem === undefined) return text
  throw new Fault('InvalidInput', problem.code, `Cannot read the body: ${problem.text}.`)
}

function unsupported(type: string): Fault {
  const seen = type === '' ? 'no Content-Type' : `Content-Type "${type.slice(0, 100)}"`
  const message = `Cannot read the body: it came with ${seen}; send application/json or text/plain in UTF-8.`
  return new Fault('InvalidInput', 'unsupported_media_type', message, { status: 415 })
}

function tooLarge(bytes: number): Fault {
  const { payload_bytes } = EVENT_LIMITS
  const message = `Cannot take the body: it has ${bytes} bytes, at most ${payload_bytes} are allowed.`
  return new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: payload_bytes } })
}

/** The wait stays open: another answer may fit. */
function notFitting({ block }: Called, problems: readonly string[]): Fault {
  const message = `Cannot take this answer: it does not fit the outputs of block "${block.id}": ${problems.slice(0, 3).join('; ')}. Send it again as they are declared; the address is still good.`
  const issues = problems.slice(0, 20).map((problem) => ({ path: '', message: problem }))
  return new Fault('InvalidInput', 'callback_not_fitting', message, { status: 422, issues })
}

/** One that is not there yet finds the answer when it begins. */
async function wake(world: World, { place, block }: Called): Promise<void> {
  const { tenant, run_id, epoch } = place
  const run = { tenant, run_id }
  const head = await world.runs.head(run, [laneKey({ block: block.index })])
  const lane = head?.lanes[laneKey({ block: block.index })] ?? 0
  if (head?.state !== 'running') throw over(block, `the run is ${head?.state ?? 'gone'}`)
  if (!isOpenWait(lane)) return
  const { attempt } = readOrdinal(lane)
  const open = await findWait(world, run, { block: block.index, epoch, attempt })
  const isTaken = open !== undefined && (await endByWhatIsKept(world, open))
  const now = isTaken ? undefined : await world.runs.projections(run, [block.index])
  // Its time came in between, or it was stopped; whoever ended it by this answer meanwhile did it for us.
  if (now !== undefined && now[0]?.wait?.came?.by === 'time') throw over(block, 'its wait is over')
}
