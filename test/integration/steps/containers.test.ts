import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeContainerEngine } from '../../emulators/container-engine.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Blocks of the handler `container` in the local place, with a command that stands for docker. */
let folder: string
let place: TestPlace
const PARSER = `
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs'
const [sluice, ...args] = process.argv.slice(2)
const { inputs, key, attempt } = JSON.parse(readFileSync(sluice + '/input.json', 'utf8'))
console.log('parsing with ' + process.env.API_KEY)
if (inputs.text === 'wait') { writeFileSync(process.env.SEEN + '/begun', ''); await new Promise((resolve) => setTimeout(resolve, 60_000)) }
if (inputs.text === 'crash') process.exit(3)
if (inputs.text === 'later' && attempt === 1) process.exit(75)
if (inputs.text === 'nothing') process.exit(0)
writeFileSync(sluice + '/artifacts/list.txt', inputs.text.split(' ').join('\\n'))
writeFileSync(sluice + '/output.json', JSON.stringify({ words: inputs.text.split(' ').length, list: 'artifacts/list.txt', seen: { args, key, attempt, env: Object.keys(process.env).toSorted() } }))
`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-containers-'))
  const image = join(folder, 'parser.mjs')
  writeFileSync(image, PARSER)
  const env = { MODE: 'careful', SEEN: folder }
  const secrets = { API_KEY: { env: 'PARSER_KEY' } }
  place = await openTestPlace(
    { keys: new Map([['PARSER_KEY', 'canary-of-the-container']]) },
    {
      project_dir: folder,
      container_engine: writeContainerEngine(folder),
      containers: {
        parser: { image: image.slice(1), command: ['parse'], env, secrets, memory_mb: 512, cpu: 512 },
        gone: { image: 'acme/gone:1' },
      },
    },
  )
}, 60_000)
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

const parsing = (more: object = {}, container = 'parser') => ({
  name: 'parsing',
  inputs: { text: 'string' },
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      inputs: { text: 'string' },
      outputs: { words: 'number', list: 'file', seen: 'json' },
      deterministic: { handler: 'container', config: { container, command_args: ['--as', '{{inputs.text}}'] } },
      ...more,
    },
  ],
})

async function ran(text: string, dag: object = parsing()) {
  const id = await place.start(dag, { inputs: { text } })
  const events = await place.ended(id)
  const failed = events.findLast(({ type }) => type === 'block:failed')?.data
  return {
    id,
    events,
    end: events.at(-1)?.type,
    failed: { ...failed } as { readonly code?: string; readonly reason?: string },
  }
}

const calls = () =>
  readFileSync(join(folder, 'calls'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string[])

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe('a container of the local place', () => {
  test('finds its input, leaves outputs and files, and reaches nothing it was not given', async () => {
    const { end, id, events } = await ran('one two three')
    expect(end).toBe('run:completed')
    const output = events.find(({ type }) => type === 'block:output')
    expect(output?.data).toMatchObject({ log: { tail: ['parsing with [redacted]'] }, model: 'container|parser' })
    const { json } = await place.call('list-artifacts', id)
    expect(JSON.stringify(json)).toContain('list.txt')
    const run = calls().find(([what, ...rest]) => what === 'run' && rest.includes('one two three')) ?? []
    const after = (flag: string) => run[run.indexOf(flag) + 1]
    expect(['--network', '--memory', '--cpus', '--cap-drop'].map(after)).toEqual(['none', '512m', '0.5', 'ALL'])
    expect(run.filter((part) => part === '--volume')).toHaveLength(1)
    expect(after('--volume')).toMatch(/sluice-step-\w+:\/sluice$/)
    expect(run.slice(-4)).toEqual([expect.stringMatching(/parser\.mjs$/), 'parse', '--as', 'one two three'])
    expect(JSON.stringify(calls())).not.toContain('canary-of-the-container')
    expect(JSON.stringify(events)).not.toContain('canary-of-the-container')
  })

  test.each([
    ['crash', 'step_failed', /exit code 3/],
    ['nothing', 'step_answer', /wrote nothing/],
  ])('that ends with %s fails its attempt in words', async (text, code, reason) => {
    const { failed } = await ran(text)
    expect([failed.code, failed.reason]).toEqual([code, expect.stringMatching(reason)])
  })

  test('that is not there fails its attempt, and its log says why', async () => {
    const { failed, events } = await ran('x', parsing({}, 'gone'))
    expect(failed.code).toBe('step_not_started')
    expect(JSON.stringify(events)).toContain('Unable to find image')
  })

  test('asks for another try with exit code 75', async () => {
    const { end, events } = await ran('later', parsing({ retry: { max_attempts: 2, delay_ms: 0 } }))
    expect([end, events.filter(({ type }) => type === 'block:started')]).toMatchObject(['run:completed', [{}, {}]])
  })

  test('is ended with its run, though it is no child of the place', async () => {
    const id = await place.start(parsing(), { inputs: { text: 'wait' } })
    await until(() => existsSync(join(folder, 'begun')))
    expect(readdirSync(join(folder, 'running'))).toHaveLength(1)
    await place.call('stop-run', id, {})
    await place.ended(id)
    await until(() => readdirSync(join(folder, 'running')).length === 0 || calls().some(([what]) => what === 'kill'))
    const [name = ''] = readdirSync(join(folder, 'running'))
    const pid = name === '' ? 0 : Number(readFileSync(join(folder, 'running', name), 'utf8'))
    await until(() => !isAlive(pid))
  })
})

function isAlive(pid: number): boolean {
  if (pid === 0) return false
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
