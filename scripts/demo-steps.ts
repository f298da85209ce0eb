import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join, relative, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { withPlace } from '../clients/cli/place/with-place.ts'
import { startAndWatch } from '../clients/cli/run/start-and-watch.ts'
import { verdictLines } from '../clients/cli/run/status.ts'
import type { Target } from '../clients/cli/server/api.ts'
import { fetchEvents } from '../clients/cli/server/fetch-run.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import { readRows } from '../shared/table/read-rows.ts'
import { runDemo } from './run-demo.ts'

/**
 * `npm run demo:steps`: docs/examples/tickets, a project with code of its own. 500 tickets of a CSV, with line breaks in their
 * cells, are split by a step in TypeScript, judged by one in Python behind a gate, and put together; a service is told
 * and answers later, the demo approves (recorded as via `--yes`), and a CSV of 500 rows is written, which is read again here.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { 'data-dir': folder } = parseArgs({
  options: { 'data-dir': { type: 'string', default: join(root, '.sluice', 'demo-steps') } },
}).values
const project = resolve(folder, 'project')
const session = openSession()
const TICKETS = 500
const DESK_MS = 500

const SUBJECTS = [
  'Invoice',
  'The shop is down',
  'Export, as CSV',
  'How do I add a user?',
  'Cannot log in',
  'Feature',
  'Größe',
]
const OPENINGS = ['Hello,', 'Good morning;', 'To whom it may concern.', 'Hi "team",', 'Grüße aus Köln:']
const SENTENCES = [
  'The total on page 2 is not the sum of the lines',
  'Nobody here can work, it is an outage',
  'Could you send the report as PDF?',
  'The button moved, and that is fine',
  '=1+1 is what stands in the cell',
]

/** What the program leaves open in its first try: in two batches of ten the gate has something to refuse. */
const DOUBT = 'Perhaps it is only slow today'
const UNSURE = [122, 339]

await runDemo(session, demo)

async function demo(): Promise<number> {
  cpSync(join(root, 'docs', 'examples', 'tickets'), project, { recursive: true })
  mkdirSync(join(project, 'inputs'), { recursive: true })
  const tickets = madeUpTickets()
  writeFileSync(join(project, 'inputs', 'tickets.csv'), csvOf(tickets))
  const desk = await openDesk()
  for (const line of useWhatIsThere(desk.url)) session.say(line)
  const place = { projectDir: project, dataDir: resolve(folder), port: 0 }
  return await withPlace(place, (open) => runTickets(open, tickets)).finally(desk.close)
}

/** The service of the example: it takes what it is told, and answers half a second later to the address it was given. */
async function openDesk() {
  const server = createServer((request, response) => {
    void json(request).then((told) => {
      response.end('{}')
      const { answer_to } = told as { readonly answer_to: string }
      const body = JSON.stringify({ people: 3 })
      const headers = { 'content-type': 'application/json' }
      setTimeout(() => void fetch(answer_to, { method: 'POST', headers, body }), DESK_MS)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

interface Ticket {
  readonly id: string
  readonly subject: string
  readonly text: string
}

/** Nobody's data: each ticket is put together of a few sentences, with what breaks careless readers of a CSV. */
function madeUpTickets(): readonly Ticket[] {
  return Array.from({ length: TICKETS }, (_, at) => {
    const one = <T>(list: readonly T[], step: number): T => list[(at * step) % list.length] as T
    return {
      id: `T-${String(at + 1).padStart(4, '0')}`,
      subject: `${one(SUBJECTS, 3)}${at % 9 === 0 ? ', again' : ''}`,
      text: `${one(OPENINGS, 3)}\n\n${UNSURE.includes(at) ? DOUBT : one(SENTENCES, 1)}\r\n"${one(SENTENCES, 2)}", they said; ${one(OPENINGS, 1)}`,
    }
  })
}

/** Every cell in quotes: commas, line breaks and quotes stay inside it (RFC 4180). */
function csvOf(tickets: readonly Ticket[]): string {
  const line = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
  return ['id,subject,text', ...tickets.map(({ id, subject, text }) => line([id, subject, text])), ''].join('\r\n')
}

/** A document names a program, the settings say what that is: without Python the same name is another command. */
function useWhatIsThere(desk: string): readonly string[] {
  const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' })
  const [python, program] = status === 0 ? [stdout.trim(), 'judge.py'] : [process.execPath, 'judge-without-python.mjs']
  const settings = join(project, 'sluice.yaml')
  const exec = `exec: [${JSON.stringify(python)}, steps/${program}]`
  const text = readFileSync(settings, 'utf8').replace('exec: [python3, steps/judge.py]', exec)
  writeFileSync(settings, text.replace('http://127.0.0.1:8080', desk))
  const words = status === 0 ? `Python: ${python}` : 'There is no python3 here: a program in JavaScript judges instead.'
  return [`Project: ${relative(process.cwd(), project)}, ${TICKETS} tickets in inputs/tickets.csv. ${words}`]
}

async function runTickets(
  { target, signal }: { readonly target: Target; readonly signal: AbortSignal },
  tickets: readonly Ticket[],
): Promise<number> {
  const artifacts = join(relative(process.cwd(), resolve(folder)), 'artifacts')
  const { runId, exitCode } = await startAndWatch(session, target, {
    request: { name: 'tickets' },
    json: false,
    yes: true,
    signal,
    inside: { dataDir: relative(process.cwd(), resolve(folder)), artifactsDir: artifacts },
  })
  const refused = verdictLines(await fetchEvents(target, runId)).filter((line) => !line.includes('✓'))
  for (const line of ['', 'What the gate refused, and was judged again', ...refused]) session.say(line)
  if (exitCode !== 0) return exitCode
  const file = join(artifacts, runId, 'judged.csv')
  const { words, isWhole } = compare(readFileSync(file, 'utf8'), tickets)
  for (const line of ['', `${words}: ${file}`]) session.say(line)
  return isWhole ? 0 : 1
}

/** Reads what came out: each ticket once, in its place, to the character, with a priority. */
function compare(csv: string, tickets: readonly Ticket[]): { readonly words: string; readonly isWhole: boolean } {
  const read = readRows(csv, { format: 'csv' })
  if ('problem' in read) return { words: `It cannot be read: ${read.problem}`, isWhole: false }
  const same = read.rows.filter((row, at) => {
    const { id, subject, text } = tickets[at] ?? {}
    return row.id === id && row.subject === subject && row.text === text && row.priority !== ''
  })
  const words = `${read.rows.length} rows came out of ${tickets.length} tickets, ${same.length} the same to the character`
  return { words, isWhole: read.rows.length === TICKETS && same.length === TICKETS }
}
