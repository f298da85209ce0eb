import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { blackBoxFiles, suites } from '../../scripts/prove/suites.ts'
import { type Checkout, openCheckout } from '../e2e/checkout.ts'
import { type Done, sluice } from '../e2e/run-cli.ts'
import { type Deployment, deploy } from './deploy.ts'

/**
 * `sluice deploy --prove` against the emulated stacks: the command as it is, with a CDK and an account that stand in. What the
 * account says is the API of the stage is that of the emulated one; a second deployment gives it other code.
 */
const NEW_CODE = 'code of the second deployment'

/** What the account says start-run is told by a deployment; the emulated stage itself replaces its code at once. */
const RELEASE = (n: number) => ({ id: String(n).padStart(12, '0'), code: { RunBlock: `:${n}` } })

/** A run of the first deployment noted what it began with. */
function released(deployment: number): void {
  checkout.state.release = RELEASE(deployment)
  const first = { percent: 100, to: RELEASE(1), at: '2026-11-27T00:00:00.000Z', by: 'first start' }
  checkout.state.routing ??= { text: JSON.stringify(first), rev: 1 }
}

let folder: string
let place: Deployment
let checkout: Checkout

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-proof-'))
  place = await deploy(inject('assembly'))
}, 300_000)
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  checkout = await openCheckout()
  // What is reserved for the stage's run-block is what the emulated one has.
  let reserved: Readonly<Record<string, number>> = {}
  Object.defineProperty(checkout.state, 'reserved', {
    get: () => reserved,
    set(now: Readonly<Record<string, number>>) {
      reserved = now
      const [most] = Object.entries(now).flatMap(([name, count]) => (name.endsWith('-run-block') ? [count] : []))
      if (most === undefined) place.mostAtOnce.delete('sluice-dev-run-block')
      else place.mostAtOnce.set('sluice-dev-run-block', most)
    },
  })
})
afterEach(() => checkout.close())

/** The same assembly with another text of run-block. */
function nextAssembly(): string {
  const out = inject('assembly')
  const next = join(folder, 'next')
  const [asset = ''] = place.templates
    .all('AWS::Lambda::Function')
    .flatMap(({ properties: { FunctionName, Code } }) => {
      if (FunctionName !== 'sluice-dev-run-block') return []
      return basename(place.templates.asset((Code as { readonly S3Key: string }).S3Key))
    })
  mkdirSync(next)
  for (const name of readdirSync(out)) if (name !== asset) symlinkSync(join(out, name), join(next, name))
  cpSync(join(out, asset), join(next, asset), { recursive: true })
  const file = join(next, asset, 'index.mjs')
  writeFileSync(file, `console.log(${JSON.stringify(NEW_CODE)})\n${readFileSync(file, 'utf8')}`)
  return next
}

const prove = (...more: readonly string[]): Promise<Done> =>
  sluice(['deploy', '--prove', '--yes', '--blocks', '60', '--report', 'page.md', ...more], {
    cwd: checkout.folder,
    env: checkout.env,
  })
const verbs = () => checkout.cdkCalls().map((line) => line.split(' ')[0])
const stageOf = ({ out }: Done) => /A stage of its own, (prove[a-z0-9]{7}),/.exec(out)?.[1] ?? ''
const STEPS = ['deploy', 'health', 'runs', 'approvals', 'stream', 'redeploy', 'release', 'throttling', 'large run']
const rows = () =>
  readFileSync(join(checkout.folder, 'page.md'), 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('| ') ? [line.split(' | ').map((cell) => cell.replace(/^\| /, ''))] : []))
    .slice(2)
    .map(([name, , held]) => `${name}: ${held}`)

test('every step holds on the emulated stacks, runs in flight go on with other code, and the stage is taken down', async () => {
  let deployments = 0
  checkout.heard.cdk = async ([verb]) => {
    if (verb !== 'deploy') return {}
    deployments += 1
    checkout.state.api = place.api.url
    released(deployments)
    if (deployments === 2) await place.update(nextAssembly())
    return {}
  }
  const done = await prove()
  expect(done.err).not.toContain('error:')
  expect([done.code, rows()]).toEqual([0, STEPS.map((name) => `${name}: yes`)])
  const stage = stageOf(done)
  const order = ['in account 111122223333, eu-central-1', 'Estimated cost: $', 'Proving health', `Taking ${stage} down`]
  const places = order.map((words) => done.out.indexOf(words))
  expect(places.every((at) => at >= 0)).toBe(true)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(done.out).toMatch(/9 of 9 steps held.*Cost about \$\d+\.\d\d: \d+ runs of \d+ blocks, \d+ requests/s)
  expect(place.throttled.calls).toBeGreaterThan(0)
  expect(place.sandboxes('run-block').logs.join('')).toContain(NEW_CODE)
  expect(verbs()).toEqual(['synth', 'deploy', 'synth', 'deploy', 'destroy', 'destroy'])
  // Nothing of another stage was asked for, and what is gone is that of this one.
  const others = checkout.calls.filter(
    (call) => /sluice-(?!prove)/.test(call) || (call.includes('prove') && !call.includes(stage)),
  )
  expect(others).toEqual([])
  expect(checkout.calls).toEqual(
    expect.arrayContaining([
      `PutFunctionConcurrency sluice-${stage}-run-block`,
      `DeleteFunctionConcurrency sluice-${stage}-run-block`,
      `DeleteTable sluice-${stage}`,
      `DeleteBucket sluice-${stage}-111122223333-eu-central-1`,
    ]),
  )
  // What the report says is fit for a page of the repository: no account, no address.
  expect(readFileSync(join(checkout.folder, 'page.md'), 'utf8')).not.toMatch(/111122223333|127\.0\.0\.1/)
}, 400_000)

test('a step that does not hold is told with its reason, the others are tried, and the stage is taken down all the same', async () => {
  let deployments = 0
  checkout.heard.cdk = async ([verb]) => {
    if (verb !== 'deploy') return {}
    deployments += 1
    checkout.state.api = place.api.url
    released(deployments)
    const says =
      'sluice-x-machines | 3/9 | CREATE_FAILED | AWS::StepFunctions::StateMachine | Resource handler returned message: "The state machine IAM Role is not authorized to access the Log Destination (Service: AWSStepFunctions; Status Code: 400; Error Code: AccessDeniedException)"'
    return deployments === 2 ? { code: 1, says } : {}
  }
  const done = await prove()
  const expected = STEPS.map((name) => `${name}: ${name === 'redeploy' ? 'no' : 'yes'}`)
  expect([done.code, rows()]).toEqual([100, expected])
  expect(done.out).toMatch(/NOT HELD +redeploy .*`cdk deploy` ended with exit code 1.*Known: Step Functions was asked/s)
  expect(verbs().slice(-2)).toEqual(['destroy', 'destroy'])
  expect(checkout.calls).toContain(`DeleteTable sluice-${stageOf(done)}`)
}, 400_000)

test('what npm run prove:aws asks besides: files that ask over HTTP alone, of the address they are given, signed', async () => {
  const files = blackBoxFiles()
  expect(files).toEqual(
    expect.arrayContaining(['test/aws/asks.test.ts', 'test/aws/foreach.test.ts', 'test/aws/pivots.test.ts']),
  )
  expect(files).not.toContain('test/aws/versions.test.ts')
  const controller = new AbortController()
  const counts = { runs: 0, blocks: 0, requests: 0, usd: 0 }
  const nothing = async () => 'nothing'
  const stage = (url: string) => ({
    target: { url, named: true },
    counts,
    signal: controller.signal,
    redeploy: async () => {},
    releases: () => Promise.reject(new Error('no step of these asks for releases')),
    limitRunBlock: nothing,
  })
  const step = suites(['test/aws/foreach.test.ts'], { ...process.env, ...checkout.env, VITEST: undefined })
  expect(await step.prove(stage(place.api.url))).toMatch(/^[1-9]\d* passed, 0 failed$/)
  await expect(step.prove(stage(checkout.env.CDK_TELLS))).rejects.toThrow(/failed/)
}, 400_000)
