import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import about from '../../package.json' with { type: 'json' }
import { openApi } from '../../shared/api/openapi.ts'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'

/**
 * The OpenAPI document as somebody uses it who writes no TypeScript: OpenAPI Generator makes a Python client of it, and a
 * program of thirty lines runs a DAG with that. It needs Java, Python 3 and two packages of Debian's (python3-urllib3,
 * python3-dateutil).
 */
const HERE = join(import.meta.dirname, 'python-client')
const NEEDED = [
  ['java', '-version'],
  ['python3', '-c', 'import urllib3, dateutil, six'],
] as const

function isThere([program, ...args]: (typeof NEEDED)[number]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const run = promisify(execFile)
const possible = NEEDED.every(isThere)

const ASKING = {
  name: 'asking',
  inputs: { text: 'string' },
  blocks: [
    {
      id: 'publish',
      mode: 'deterministic',
      inputs: { text: 'string' },
      outputs: { text: 'string' },
      deterministic: { handler: 'transform', config: { expression: '$trim(inputs.text) & "!"' } },
      approval: { prompt: 'Publish this?', show: ['text'] },
    },
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-python-'))
let place: TestPlace | undefined
beforeAll(async () => {
  if (possible) place = await openTestPlace({ listen: true }, { port: 0 })
})
afterAll(async () => {
  await place?.close()
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(!possible)('a generated Python client starts a run, approves it and reads its outputs', async () => {
  await generate(folder)
  await run('python3', ['-m', 'compileall', '-q', join(folder, 'sluice_client')])
  const program = [join(HERE, 'run.py'), folder, JSON.stringify(ASKING), place?.place.url ?? '']
  const { stdout } = await run('python3', program)
  expect(JSON.parse(stdout)).toMatchObject({
    state: 'completed',
    outputs: { outputs: { text: 'hello!' } },
    unknown: { status: 404, code: 'unknown_run' },
  })
})

async function generate(into: string): Promise<void> {
  const generator = join(HERE, 'node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar')
  if (!existsSync(generator)) await run('npm', ['ci', '--ignore-scripts'], { cwd: HERE })
  const [whole, older, taken] = [join(into, '3.1.json'), join(into, '3.0.json'), join(into, 'taken.json')]
  writeFileSync(whole, JSON.stringify(openApi(about.version)))
  await run(join(HERE, 'node_modules/.bin/openapi-down-convert'), ['-i', whole, '-o', older])
  writeFileSync(taken, JSON.stringify(asItIsTaken(JSON.parse(readFileSync(older, 'utf8')))))
  const names = 'apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'
  const options = ['-i', taken, '-g', 'python', '-o', into, '-p', 'packageName=sluice_client']
  await run('java', ['-jar', generator, 'generate', ...options, '--global-property', names], {
    maxBuffer: 64 * 2 ** 20,
  })
}

/** Without what OpenAPI 3.0, its converter or the generator has no word for: several types, tuples, null, patterns. */
function asItIsTaken(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asItIsTaken)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name, member]) => name !== 'pattern' || typeof member !== 'string')
  const taken = Object.fromEntries(members.map(([name, member]) => [name, asItIsTaken(member)]))
  if (Array.isArray(taken.prefixItems)) return { ...taken, prefixItems: undefined, type: 'array', items: {} }
  if (taken.type === 'null') return { ...taken, type: undefined, nullable: true }
  if (Array.isArray(taken.anyOf)) return { ...taken, anyOf: undefined }
  if (Array.isArray(taken.oneOf)) return { ...taken, oneOf: undefined }
  return Array.isArray(taken.type) ? { ...taken, type: undefined } : taken
}
