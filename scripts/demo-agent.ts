import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { readLogin } from '../clients/cli/place/local-login.ts'
import { type LocalPlace, startPlace } from '../clients/cli/place/local-place.ts'
import { transcriptLines } from '../clients/cli/run/transcript.ts'
import { callApi, type Target } from '../clients/cli/server/api.ts'
import { fetchEvents, fetchRun } from '../clients/cli/server/fetch-run.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import type { RunEvent } from '../shared/runs/event.ts'
import { isRunEnd } from '../shared/runs/event-types.ts'
import {
  type Ledger,
  openLedger,
  openScriptedModel,
  type ScriptedModel,
  type ScriptTurn,
} from './demo-agent/stand-ins.ts'
import { runDemo } from './run-demo.ts'

/**
 * `npm run demo:agent`: docs/examples/refunds, an agent that reads a mailbox over a real MCP server and pays back through a step of the
 * project. A script stands in for the model, turn for turn. One call is refused by a gate, one is made with an amount that a
 * person changed and is killed in the middle, one is denied. At the end everything is counted.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { 'data-dir': folder } = parseArgs({
  options: { 'data-dir': { type: 'string', default: join(root, '.sluice', 'demo-agent') } },
}).values
const project = resolve(folder, 'project')
const dataDir = resolve(folder, 'data')
const session = openSession()

const LETTER = 'Dear Ben, we will pay you the 19 euros for the cable.'
const SCRIPT: readonly ScriptTurn[] = [
  { text: 'I look which mails there are.', calls: [['mail__list_directory', { path: '.' }]] },
  {
    text: 'I read both.',
    calls: [
      ['mail__read_text_file', { path: 'ada.txt' }],
      ['mail__read_text_file', { path: 'ben.txt' }],
    ],
  },
  { text: 'Ada wants 1290.', calls: [['refund', { order: 'A-1043', amount: 1_290 }]] },
  { text: 'Then what she paid.', calls: [['refund', { order: 'A-1043', amount: 129 }]] },
  { text: 'Now Ben.', calls: [['send-letter', { to: 'ben@example.com', text: LETTER }]] },
  { text: 'Ada has her money back. Ben gets nothing, as he was told.' },
]
const WORDS = 'he cut the cable himself'

await runDemo(session, demo)

interface Demo {
  readonly model: ScriptedModel
  readonly ledger: Ledger
  place: LocalPlace
  runId: string
}

async function demo(): Promise<number> {
  const began = performance.now()
  const model = await openScriptedModel(SCRIPT)
  const ledger = await openLedger()
  writeProject(model.url, ledger.url)
  const it: Demo = { model, ledger, place: await start(), runId: '' }
  try {
    const isRight = await act(it)
    session.say(`\n${((performance.now() - began) / 1_000).toFixed(1)} s in all.`)
    return isRight ? 0 : 1
  } finally {
    await it.place.stop()
    model.close()
    ledger.close()
  }
}

/** The example as it is, but for who answers under its names. */
function writeProject(model: string, ledger: string): void {
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, 'docs', 'examples', 'refunds'), project, { recursive: true })
  const settings = join(project, 'sluice.yaml')
  const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
  const text = readFileSync(settings, 'utf8')
    .replace('"https://api.openai.com/v1", key: { env: OPENAI_API_KEY }', `"${model}/v1"`)
    .replace('model: gpt-4.1-mini', 'model: script')
    .replace(
      /\[npx, -y, "@modelcontextprotocol\/[^"]+"/,
      `[${JSON.stringify(process.execPath)}, ${JSON.stringify(server)}`,
    )
    .replaceAll('http://127.0.0.1:8080', ledger)
  writeFileSync(settings, text)
}

async function start(): Promise<LocalPlace> {
  return await startPlace({ projectDir: project, dataDir, port: 0, login: true })
}

function targetOf({ url }: LocalPlace): Target {
  const made = readLogin(dataDir, url)
  return { url, named: true, ...(made === undefined ? {} : { token: made.secret, login: true }) }
}

async function act(it: Demo): Promise<boolean> {
  say('A place of its own', `${relative(process.cwd(), project)}, with the MCP server "mail" from npm over stdio.`)
  say('No model', 'a script in scripts/demo-agent.ts says what the agent says, turn for turn, in the form of OpenAI.')
  it.runId = await startRun(it)
  say('The agent starts', `run ${it.runId}: it lists the folder and reads two mails side by side.`)
  const refund = await question(it, 0)
  say('Refused by a gate', `it wanted to pay 1290. ${await refusal(it, 'small')}.`)
  say('A person is asked', asked(refund))
  const booked = it.ledger.holdNext()
  await decide(it, refund, { decision: 'approve', edits: { amount: 119 } })
  say('Allowed, but otherwise', 'the person lets 119 be paid instead of 129.')
  await booked
  await kill(it)
  const letter = await question(it, refund.seq)
  const [first] = it.ledger.booked
  say('Made again by itself', `with the same key: the ledger answered ${first?.receipt}, and booked nothing new.`)
  say('A person is asked', asked(letter))
  await decide(it, letter, { decision: 'reject', feedback: WORDS })
  say('Denied with words', `"${WORDS}": the model is told that, and goes on.`)
  await until(it, ({ type }) => isRunEnd(type))
  return await report(it)
}

function say(title: string, words: string): void {
  session.say(`${`${title}:`.padEnd(24)}${words}`)
}

async function startRun({ place }: Demo): Promise<string> {
  const { run_id } = await callApi(targetOf(place), z.looseObject({ run_id: z.string() }), (api) =>
    api.POST('/api/dag/run', { body: { name: 'refunds' } }),
  )
  return run_id
}

function events({ place, runId }: Demo): Promise<readonly RunEvent[]> {
  return fetchEvents(targetOf(place), runId)
}

async function until(it: Demo, isIt: (event: RunEvent) => boolean): Promise<RunEvent> {
  for (;;) {
    const found = (await events(it)).find(isIt)
    if (found !== undefined) return found
    await pause(50)
  }
}

/** The next question after an event, as a person is shown it. */
async function question(it: Demo, after: number) {
  const asked = await until(it, ({ type, seq }) => type === 'approval:requested' && seq > after)
  const { approvals } = await fetchRun(targetOf(it.place), it.runId)
  const open = approvals.find(({ status }) => status === 'pending')
  if (open === undefined) throw new Error('what was asked is not open')
  return { ...open, seq: asked.seq }
}

async function decide(it: Demo, { approval_id, digest }: Awaited<ReturnType<typeof question>>, said: Decision) {
  await callApi(targetOf(it.place), z.looseObject({}), (api) =>
    api.POST('/api/dag/runs/{run_id}/approvals', {
      params: { path: { run_id: it.runId } },
      body: { approval_id, digest, ...said },
    }),
  )
}

interface Decision {
  readonly decision: 'approve' | 'reject'
  readonly feedback?: string
  readonly edits?: Readonly<Record<string, number>>
}

async function kill(it: Demo): Promise<void> {
  const { pid } = it.place
  process.kill(pid, 'SIGKILL')
  await it.place.ended
  say('Killed with -9', `process ${pid} is gone: the ledger had booked, and nobody was there to hear it.`)
  it.place = await start()
  say('Started again', `process ${it.place.pid}, on the folder that the dead one left.`)
}

async function refusal(it: Demo, gate: string): Promise<string> {
  const found = (await events(it)).find((event) => event.type === 'block:gate' && event.data.gate === gate)
  return found?.type === 'block:gate' ? found.data.reason : 'Nothing was refused'
}

/** A prompt's lines as one, without what the agent did so far. */
function asked({ prompt }: Awaited<ReturnType<typeof question>>): string {
  return prompt
    .split(/\n|(?= Tool )/)
    .slice(0, 2)
    .join(' / ')
}

/** The transcript as `sluice run transcript` has it, then what the record and those who were asked have counted. */
async function report(it: Demo): Promise<boolean> {
  const target = targetOf(it.place)
  session.say('\nThe transcript, out of the record')
  for (const line of await transcriptLines(target, { runId: it.runId, block: 'solve' })) session.say(line)
  const all = await events(it)
  const done = all.flatMap(({ type, item }) => (type === 'block:output' && item !== undefined ? [item] : []))
  const calls = done.filter((item) => item % 100 !== 0)
  const { ok } = await callApi(target, z.looseObject({ ok: z.boolean() }), (api) =>
    api.GET('/api/dag/runs/{run_id}/verify', { params: { path: { run_id: it.runId } } }),
  )
  const { keys, booked } = it.ledger
  const counts: readonly (readonly [string, number, number])[] = [
    ['turns of the script', SCRIPT.length, SCRIPT.length],
    ['turns the model was asked for', it.model.asked.length, SCRIPT.length],
    ['turns and calls with a result', done.length, SCRIPT.length + 4],
    ['of them told twice', done.length - new Set(done).size, 0],
    ['calls made: mail 3, refund 1', calls.length, 4],
    ['requests to the ledger', keys.length, 2],
    ['different keys among them', new Set(keys).size, 1],
    ['booked: 119 for A-1043', booked.filter(({ amount }) => amount === 119).length, 1],
    ['letters sent', booked.filter(({ what }) => what === 'letter').length, 0],
  ]
  session.say('\nCounted')
  for (const [what, seen, wanted] of counts)
    session.say(`  ${what.padEnd(32)}${seen}${seen === wanted ? '' : `, expected ${wanted}`}`)
  session.say(`  ${'the record holds (run verify)'.padEnd(32)}${ok ? 'yes' : 'no'}`)
  session.say(`\nLook at it: npm run -s sluice -- start --data-dir ${relative(process.cwd(), dataDir)}`)
  const isEnded = all.at(-1)?.type === 'run:completed'
  return ok && isEnded && counts.every(([, seen, wanted]) => seen === wanted)
}
