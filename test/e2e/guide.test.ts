import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Started, sluice, startSluice } from './run-cli.ts'

/** docs/guide.md as a stranger reads it: its files are written, its commands run, in their order, in one folder. */
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/guide.md'), 'utf8')
const STEPS = [...PAGE.matchAll(/^```(sh|yaml|json)\n([\s\S]*?)^```$/gm)].map(([, kind = '', body = '']) => ({
  kind,
  body,
}))

let top = ''
let folder = ''
let server: Started | undefined
/** The last run, as the text says. */
let runId = ''

beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'sluice-guide-'))
  folder = top
})
afterAll(async () => {
  await server?.stop('SIGTERM')
  rmSync(top, { recursive: true, force: true })
})

test('every command of the guide does what the guide says', { tags: ['thorough'], timeout: 300_000 }, async () => {
  for (const { kind, body } of STEPS) {
    if (kind === 'yaml') write(/^# file: (\S+)$/m.exec(body)?.[1] ?? '', body)
    else if (kind === 'json') write('ferries.ndjson', body)
    else for (const line of body.trimEnd().split('\n')) await follow(line)
  }
  const said = new Map(outputs)
  expect(said.get('sluice run artifact RUN notice.md')).toContain(
    'Notice: Exports have a header. Valid from Tuesday on.',
  )
  expect(said.get('sluice run status RUN --gates')).toContain('Say what changed')
  expect(said.get('sluice run goal RUN')).toMatch(/0\.6/)
  expect(said.get('sluice research ask "Where do ferries leave Oslo for?"')).toContain('Nesodden')
  const secondDraft = [...said].find(([line]) => line.includes('json flag." --yes'))?.[1]
  expect(secondDraft).toMatch(/gate says-from-when failed: People must know from when it holds/)
})

const outputs: [string, string][] = []

async function follow(line: string): Promise<void> {
  const [command = '', exit = '0'] = line.split(' # exit ')
  if (command.startsWith('cd ')) {
    folder = join(folder, command.slice(3))
    return
  }
  if (command === 'sluice start') {
    server = await startSluice(['start', '--port', '0', '--json'], folder)
    return
  }
  const words = wordsOf(command).slice(1)
  const env = server === undefined ? {} : { SLUICE_URL: String(server.first.url) }
  const done = await asked(words, env)
  outputs.push([command, done.out])
  expect(done.code, `${line}\n${done.out}${done.err}`).toBe(Number(exit))
  runId = /run_[0-9a-z]{26}/.exec(words.includes('run') && /start|retry/.test(command) ? done.out : '')?.[0] ?? runId
}

/** A question is open a moment after the run has started: a person would not be faster. */
async function asked(words: readonly string[], env: Readonly<Record<string, string>>) {
  const run = () =>
    sluice(
      words.map((word) => word.replace(/^RUN$/, runId)),
      { cwd: folder, env },
    )
  let done = await run()
  for (let tries = 0; words[1] === 'approve' && done.code !== 0 && tries < 20; tries += 1) done = await run()
  return done
}

/** As a shell splits them: quotes keep blanks together. */
function wordsOf(command: string): readonly string[] {
  return (command.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ''))
}

function write(path: string, text: string): void {
  expect(path, text).not.toBe('')
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
