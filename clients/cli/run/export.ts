import { writeFileSync } from 'node:fs'
import { type Command, type CommandOptions, Option } from 'commander'
import * as z from 'zod'
import { RUN_DATA_ROUTES } from '../../../shared/api/run-data-routes.ts'
import { VERIFY_RUN } from '../../../shared/api/verify-routes.ts'
import type { AuditLine } from '../../../shared/approvals/audit.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { redactSecrets, redactSecretsIn } from '../../../shared/text/redact.ts'
import { AuditedRunSchema, auditRun } from '../approvals/audit.ts'
import { type Ask, callApi, chooseTarget, fetchResponse, type Target } from '../server/api.ts'
import { fetchEvents } from '../server/fetch-run.ts'
import { count, sizeWords } from '../terminal/format.ts'
import { type TargetOptions, wholeNumber, withReadingOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { askArtifact } from './artifacts.ts'

interface ExportOptions extends TargetOptions {
  readonly output?: string
  readonly maxMib: number
}

/** Left-out values that are named; the file names them all. */
const NAMED = 10

export function addExport(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'a run as one JSON file: how it stands, its document, events and seal, artifacts and outputs'
  const most = new Option('--max-mib <n>', 'room for values and artifacts, in MiB; what does not fit is named')
  withReadingOptions(parent.command('export', hidden).description(words))
    .argument('<run-id>')
    .option('-o, --output <file>', 'write it there (default: print it)')
    .addOption(most.argParser(wholeNumber(0, 1_024)).default(64))
    .action((runId: string, options: ExportOptions) => saveRun(session, runId, options))
}

async function saveRun(session: Session, runId: string, { url, output, maxMib, json }: ExportOptions): Promise<void> {
  const file = await exportRun(chooseTarget(session, url), runId, maxMib * 1_048_576)
  const { left_out, events, objects, ...rest } = file
  for (const { what, why } of left_out.slice(0, NAMED)) session.warn(`Left out: ${what} (${why})`)
  if (left_out.length > NAMED) session.warn(`Left out: ${count(left_out.length - NAMED, 'more value')}`)
  const text = jsonText(file, 2)
  if (output === undefined) return void (await session.write(`${text}\n`))
  writeExport(output, `${text}\n`)
  const sizes = { bytes: Buffer.byteLength(text), events: events.length, objects: Object.keys(objects).length }
  if (json === true) session.say(jsonText({ file: output, ...sizes, seal: rest.seal, left_out }, 2))
  else {
    const held = `${count(sizes.events, 'event')}, ${count(sizes.objects, 'object')}`
    session.say(`Run ${runId} is in ${output}: ${held}, ${sizeWords(sizes.bytes)}.`)
  }
}

function writeExport(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error)
    throw new Refused(
      { code: 'unwritable_file', detail: `Cannot write "${path}": ${seen}.` },
      { exitCode: 2, cause: error },
    )
  }
}

/** A value or artifact body by its ref: text where it is UTF-8, so that a person may read it. */
type ExportedObject = { readonly sha256: string; readonly bytes: number } & (ExportedText | { readonly base64: string })
interface ExportedText {
  readonly text: string
  /** Something in it looks like a secret and was taken out: `sha256` and `bytes` are of the whole. */
  readonly redacted?: true
}

/** What `run export` writes. */
interface ExportedRun {
  readonly format: 'sluice-run/1'
  /** As GET run answers: state, blocks, steps, approvals, lineage. */
  readonly run: Json
  readonly document: Json
  readonly context: Json
  readonly events: readonly RunEvent[]
  /** How far the hash chain of the events was closed, and the hash there; null = not at all yet. */
  readonly seal: { readonly seq: number; readonly hash: string } | null
  /** The record of decisions, as `approvals export` prints it. */
  readonly audit: readonly AuditLine[]
  readonly artifacts: readonly z.infer<typeof ARTIFACT>[]
  readonly objects: Readonly<Record<string, ExportedObject>>
  readonly left_out: readonly LeftOut[]
}

interface LeftOut {
  readonly what: string
  readonly ref: string
  readonly bytes: number
  readonly why: string
}

const ARTIFACT = RUN_DATA_ROUTES['list-artifacts'].answer.shape.artifacts.element.loose()
const ARTIFACTS = z.looseObject({ artifacts: z.array(ARTIFACT) })
const STORED = z.looseObject({ ref: z.string(), sha256: z.string(), bytes: z.int() })
const RUN = AuditedRunSchema.extend({
  blocks: z.record(z.string(), z.looseObject({ state: z.string(), outputs: z.record(z.string(), STORED).optional() })),
  dag: z.custom<Json>(() => true),
  approvals: z.array(
    AuditedRunSchema.shape.approvals.unwrap().element.extend({
      shown: z.record(
        z.string(),
        z.custom<Json>(() => true),
      ),
      shown_refs: z.record(z.string(), STORED),
    }),
  ),
})

/** Reads all of a run through its routes; objects stop at `room` bytes, and each is checked against its own hash. */
async function exportRun(target: Target, runId: string, room: number): Promise<ExportedRun> {
  const get = <T>(schema: z.ZodType<T>, ask: Ask) => callApi(target, schema, ask)
  const of = { params: { path: { run_id: runId } } }
  const { dag: document, ...run } = await get(RUN, (api) => api.GET('/api/dag/runs/{run_id}', of))
  const events = await fetchEvents(target, runId)
  const { seal } = await get(VERIFY_RUN.answer.loose(), (api) => api.GET('/api/dag/runs/{run_id}/verify', of))
  const { artifacts } = await get(ARTIFACTS, (api) => api.GET('/api/dag/runs/{run_id}/artifacts', of))
  const kept = keeper(room)
  for (const [id, { state, outputs = {} }] of Object.entries(run.blocks)) {
    if (state !== 'completed' || Object.keys(outputs).length === 0) continue
    const params = { path: { run_id: runId, block_id: id } }
    const { outputs: values } = await get(OUTPUTS, (api) =>
      api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params }),
    )
    for (const [port, stored] of Object.entries(outputs)) kept.value(`output ${id}.${port}`, port, stored, values[port])
  }
  for (const { shown, shown_refs } of run.approvals) {
    for (const [name, stored] of Object.entries(shown_refs))
      kept.value(`shown value ${name}`, name, stored, shown[name])
  }
  for (const item of artifacts) {
    await kept.body(`artifact ${item.name}`, item, async () => {
      const response = await fetchResponse(target, askArtifact(runId, item.name))
      return new Uint8Array(await response.arrayBuffer())
    })
  }
  return {
    format: 'sluice-run/1',
    run: redactSecretsIn(run) as unknown as Json,
    document: redactSecretsIn(document),
    context: redactSecretsIn(
      await get(
        z.custom<Json>(() => true),
        (api) => api.GET('/api/dag/runs/{run_id}/context', of),
      ),
    ),
    events,
    seal: seal === null ? null : { seq: seal.seq, hash: seal.hash },
    audit: auditRun(run, events),
    artifacts,
    objects: kept.objects,
    left_out: kept.leftOut,
  }
}

const OUTPUTS = RUN_DATA_ROUTES['get-outputs'].answer.loose()
type Stored = z.infer<typeof STORED>

function keeper(room: number) {
  const objects: Record<string, ExportedObject> = {}
  const leftOut: LeftOut[] = []
  let left = room
  const leave = (what: string, { ref, bytes }: Stored, why: string) => void leftOut.push({ what, ref, bytes, why })
  const keep = (what: string, stored: Stored, body: Uint8Array, told = textOf(body)) => {
    const { ref, bytes } = stored
    if (sha256(body) !== stored.sha256) return leave(what, stored, 'it does not have the hash it was stored under')
    left -= bytes
    objects[ref] = { sha256: stored.sha256, bytes, ...told }
  }
  const hasRoom = (what: string, stored: Stored) => {
    if (Object.hasOwn(objects, stored.ref)) return false
    if (stored.bytes > left) leave(what, stored, 'no room left, see --max-mib')
    return stored.bytes <= left
  }
  return {
    objects,
    leftOut,
    /** A value of a port: it is stored as its canonical JSON. What the port or a member is called tells secrets too. */
    value(what: string, port: string, stored: Stored, value: Json | undefined) {
      if (!hasRoom(what, stored)) return
      if (value === undefined) return leave(what, stored, 'too large for the route that shows values')
      const whole = canonicalJson(value)
      const told = canonicalJson(redactSecretsIn({ [port]: value })[port] ?? null)
      keep(what, stored, Buffer.from(whole), told === whole ? { text: whole } : { text: told, redacted: true })
    },
    async body(what: string, stored: Stored, read: () => Promise<Uint8Array>) {
      if (hasRoom(what, stored)) keep(what, stored, await read())
    },
  }
}

function textOf(body: Uint8Array): ExportedText | { readonly base64: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    const told = redactSecrets(text)
    return told === text ? { text } : { text: told, redacted: true }
  } catch {
    return { base64: Buffer.from(body).toString('base64') }
  }
}
