import * as z from 'zod'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { judgeGate, replayVerdict } from '../../shared/gates/judge.ts'
import { parseCheck } from '../../shared/gates/parse-check.ts'
import { gateKinds, readProjectGates, scriptsOf } from '../../shared/gates/project-gates.ts'
import type { Json } from '../../shared/text/json.ts'
import { splitLines } from '../../shared/text/split-lines.ts'
import { folderModules } from '../modules/project-gates.ts'

/**
 * The program behind `sluice gates check --ndjson`: a line {"id","check","inputs","outputs","measured","answer","at",
 * "error"} in, a line {"id","passed","status","reason"} out, in the same order; with "recorded", the data of a block:gate
 * event, also "replay" (ADR 0026). It is a program of its own because json_schema checks run in the isolate, which
 * clients may not import. What cannot be checked is answered `error`, and the rest goes on.
 */
const isolate = createIsolate()

/** Gates of the project in the working folder. */
const modules = folderModules(process.cwd())

/** Lines judged at once: enough to keep the isolate's workers busy. */
const AT_ONCE = 8

const json = z.custom<Json>(() => true)
const values = z.record(z.string(), json)
const measure = z.number().nullable().default(null)

const LineSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  check: z.unknown(),
  inputs: values.default({}),
  outputs: values.default({}),
  measured: z.looseObject({ cost_usd: measure, latency_ms: measure, tokens: measure }).prefault({}),
  answer: z.looseObject({ provider: z.string(), model: z.string(), finish_reason: z.string() }).optional(),
  at: z.string().optional(),
  /** The author's words, as in the gate. */
  error: z.string().optional(),
  /** A verdict to replay: the data of its block:gate event. */
  recorded: z
    .looseObject({
      status: z.enum(['passed', 'failed', 'error', 'waived']),
      reason: z.string(),
      facts: values,
      input_hash: z.string(),
    })
    .optional(),
})

async function answerLines(): Promise<void> {
  let written: Promise<void> = Promise.resolve()
  let number = 0
  for await (const line of splitLines(process.stdin.setEncoding('utf8'))) {
    number += 1
    if (line.trim() === '') continue
    const answered = answer(line, number)
    const before = written
    written = answered.then(async (text) => {
      await before
      await write(`${JSON.stringify(text)}\n`)
    })
    if (number % AT_ONCE === 0) await written
  }
  await written
}

async function answer(line: string, number: number) {
  const value = readJson(line)
  const asked = LineSchema.safeParse(value)
  if (!asked.success) return refused(idOf(value), `Cannot read line ${number} of stdin: ${NEEDED}`)
  const { id, inputs, outputs, measured, answer, at, error, recorded } = asked.data
  const project = await readProjectGates(asked.data.check, modules, isolate)
  const parsed = parseCheck(asked.data.check, gateKinds(project))
  if (!parsed.ok)
    return refused(id, parsed.errors.map(({ message, hint }) => [message, hint].join(' ').trim()).join(' '))
  const facts = { inputs, outputs, measured, ...(answer && { answer }), ...(at !== undefined && { at }) }
  const scripts = scriptsOf(project)
  const ports = { isolate, script: async (version: string) => scripts.get(version) }
  const use = { name: String(id), check: parsed.check, on_fail: 'fail', ...(error !== undefined && { error }) } as const
  const { passed, status, reason } = await judgeGate(use, facts, ports, () => performance.now())
  const replay = recorded && { replay: await replayVerdict(recorded, use, facts, ports) }
  return { id, passed, status, reason, ...replay }
}

const NEEDED =
  'one JSON object {"id": string or number, "check": {"type", ..}, "inputs"?, "outputs"?, "measured"?, "answer"?, "at"?} is needed.'

/** Fail closed: what cannot be checked has not passed. */
function refused(id: string | number | null, reason: string) {
  return { id, passed: false, status: 'error', reason: reason.replace(/\s+/g, ' ') }
}

function idOf(value: unknown): string | number | null {
  const read = z.looseObject({ id: z.union([z.string(), z.number()]) }).safeParse(value)
  return read.success ? read.data.id : null
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()))
}

// A reader that goes away (`| head`) ends this, it is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
await answerLines()
await isolate.close()
