import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIsolate } from '../../../functions/isolate/isolate-pool.ts'
import { bundleFunctions } from '../../../infra/aws/bundle.ts'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { functionRights } from '../../../infra/aws/grants.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { FUNCTIONS, type FunctionLine } from '../../../shared/catalog.ts'
import { STAGES } from '../../../shared/research/stages.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { WHOLE } from '../../how-much.ts'
import { ROOT } from './assembly.ts'
import { A_FEW, bundled } from './bundled.ts'
import { importBundle, importBundles } from './function-process.ts'

const dir = mkdtempSync(join(tmpdir(), 'sluice-bundles-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const settings = readStageSettings(ROOT, { stage: 'dev' })
const parts = {
  settings,
  dags: readDeployedDags(join(ROOT, 'dags'), ROOT, settings),
  names: stageNames('dev'),
}

for (const { tags, of, only } of [
  { tags: [], of: 'a few functions', only: A_FEW },
  { tags: ['thorough'], of: 'all functions', only: undefined },
]) {
  describe(`the bundles of ${of}`, { tags }, () => bundlesHold(only))
}

function bundlesHold(only?: readonly string[]): void {
  const LINES = FUNCTIONS.filter(({ name }) => only?.includes(name) ?? true)
  const NAMES = LINES.map(({ name }) => name)
  let built = ''
  beforeAll(async () => {
    built = (await bundled(parts, only)).built
  }, 240_000)
  const bytes = (name: string, file = 'index.mjs') => statSync(join(built, name, file)).size
  const text = (name: string) => readFileSync(join(built, name, 'index.mjs'), 'utf8')

  describe('sizes', () => {
    test('are what cold starts can bear', () => {
      const rows = LINES.map(({ name }) => `${name.padEnd(17)}${Math.round(bytes(name) / 1_000)} KB`)
      process.stdout.write(
        `${rows.join('\n')}\nisolate-worker   ${Math.round(bytes('run-block', 'isolate-worker.mjs') / 1_000)} KB\n`,
      )
      const tableOnly = LINES.filter(({ name, ports }) => {
        const isRoute = ROUTES.some((route) => route.name === name)
        return isRoute && ports.every((port) => port === 'runs' || port === 'waker')
      })
      expect(tableOnly.length).toBeGreaterThanOrEqual(only === undefined ? 8 : 1)
      expect(tableOnly.filter(({ name }) => bytes(name) > 690_000)).toEqual([])
      const stages = STAGES.map((stage) => stage.replaceAll('_', '-')).filter((name) => NAMES.includes(name))
      expect(stages.filter((name) => bytes(name) > 1_300_000)).toEqual([])
      // JSONata among them, which is read when a block computes an expression; every port of a run, and what it is found by.
      expect(bytes('run-block')).toBeLessThanOrEqual(1_750_000)
      // Texts of the shipped documents, which nobody parses when a sandbox starts.
      const texts = parts.dags.reduce((sum, { document }) => sum + Buffer.byteLength(JSON.stringify(document)), 0)
      const carries = new Set(LINES.filter(({ ports }) => ports.includes('documents')).map(({ name }) => name))
      const code = (name: string) => bytes(name) - (carries.has(name) ? texts : 0)
      // open-child is the largest: it begins a run as start-run does, and judges gates before it.
      expect(NAMES.filter((name) => code(name) > 2_000_000)).toEqual([])
    })
  })

  describe('what a bundle holds', () => {
    test('is one file, and the isolate beside those that use it', () => {
      for (const { name, ports } of LINES) {
        const files = ports.includes('isolate') ? ['index.mjs', 'isolate-worker.mjs'] : ['index.mjs']
        expect([name, ...readdirSync(join(built, name)).sort()]).toEqual([name, ...files])
      }
    })

    test.each([
      ['runs graph search indexing tokens triggers spending health', 'DynamoDB_20120810'],
      ['objects search indexing uploads anchors drops', 'x-amz-checksum-sha256'],
      ['machine', 'AWSStepFunctions'],
      ['outbox http shell', 'AWSGirApiService'],
    ])('only what has the port %s holds its client', (ports, mark) => {
      const holders = NAMES.filter((name) => text(name).includes(mark))
      // This stage has no webhooks: who would nudge for them alone carries nothing for it.
      const carries = (line: FunctionLine, port: string) =>
        line.ports.includes(port) && !(port === 'outbox' && functionRights(line).includes('webhooks.nudge'))
      // Of inline machines the table says when they were used last, and of releases which new runs begin with.
      const clears = (line: FunctionLine) =>
        mark.startsWith('DynamoDB') &&
        functionRights(line).some((right) => right === 'machine.clear' || right === 'machine.takeBack')
      const users = LINES.filter((line) => ports.split(' ').some((port) => carries(line, port)) || clears(line))
      expect(holders).toEqual(users.map(({ name }) => name))
    })

    test.each(['net-gate', 'shell-gate'])('%s holds no client of AWS and no fetch of its own', (name) => {
      expect(text(name)).not.toMatch(/@aws-sdk|smithy|AWS4-HMAC|undici/)
      expect(bytes(name)).toBeLessThanOrEqual(200_000)
    })

    test('whoever only judges holds no compiler of schemas: that is in the isolate', () => {
      const judges = ['run-block', 'request-approval'].filter((name) => NAMES.includes(name))
      expect(judges.filter((name) => text(name).includes('strictTuples'))).toEqual([])
    })

    test('is no way to credentials but the environment: Lambda needs no other', () => {
      expect(NAMES.filter((name) => /AssumeRoleWithWebIdentity|CreateToken|SSOOIDC/.test(text(name)))).toEqual([])
    })

    test('the deployed documents are with those that read or list them, and nowhere else', () => {
      const words = 'Plan this change in small steps'
      const withThem = NAMES.filter((name) => text(name).includes(words)).sort()
      // Who looks for triggers reads them too: those of an event, a message, a look.
      const told = LINES.filter(({ ports }) => ports.includes('documents')).map(({ name }) => name)
      const all = [...told, ...['clear-machines'].filter((name) => NAMES.includes(name))]
      expect(withThem).toEqual(all.toSorted())
    })

    test.runIf(WHOLE && only === undefined)(
      'is the same when it is made again elsewhere, and names no path of the machine',
      async () => {
        const again = join(dir, 'again')
        await bundleFunctions(again, parts)
        for (const name of NAMES) {
          expect(readFileSync(join(again, name, 'index.mjs'), 'utf8') === text(name), name).toBe(true)
          expect(text(name)).not.toContain(ROOT)
        }
      },
      240_000,
    )
  })

  describe('as Lambda runs it', () => {
    test('each starts from its own files alone', () => {
      const alone = join(dir, `alone-${NAMES.length}`)
      for (const name of NAMES) cpSync(join(built, name), join(alone, name), { recursive: true })
      const started = importBundles(alone, NAMES)
      expect(started).toEqual({ handlers: NAMES.map((name) => [name, 'function']), stderr: '' })
    })

    test('get-health answers API Gateway, and says what fails: there is no table here', () => {
      const { answer } = importBundle(built, 'get-health', request('/api/health'))
      expect(answer).toMatchObject({
        statusCode: 503,
        isBase64Encoded: false,
        body: expect.stringMatching(/"code":"place_unable".*reads \(.*writes \(/),
      })
    })

    test('a caller nobody authenticated is 401', () => {
      const { answer } = importBundle(built, 'get-health', { ...request('/api/health'), requestContext: {} })
      expect(answer).toMatchObject({ statusCode: 401 })
    })

    test('get-config lists the deployed documents', () => {
      const { answer } = importBundle(built, 'get-config', request('/api/config'))
      const { documents } = JSON.parse((answer as { readonly body: string }).body)
      expect(documents.toSorted()).toEqual(parts.dags.map(({ name }) => name).toSorted())
      expect(documents.length).toBeGreaterThanOrEqual(10)
    })

    test('a missing value is told by its name', () => {
      const { stderr } = importBundle(built, 'list-runs', undefined, { STAGE: 'dev', AWS_REGION: 'eu-central-1' })
      expect(stderr).toContain('environment value TABLE is missing')
    })

    test("the isolate's own bundle runs transforms, schemas, models and tables", async () => {
      const isolate = createIsolate(pathToFileURL(join(built, 'run-block', 'isolate-worker.mjs')))
      const sum = await isolate.run('transform', { program: '$sum(inputs.n)', input: { inputs: { n: [1, 2, 3] } } })
      const schema = await isolate.run('json_schema', { program: { type: 'string' }, input: 7 })
      const table = Array.from({ length: 20 }, (_, at) => ({ months: at, left: at < 10 ? 'yes' : 'no' }))
      const model = await isolate.run('classify', {
        program: { label: 'left', positive: 'yes', folds: 5 },
        input: table,
      })
      const rows = await isolate.run('read_rows', { program: {}, input: 'a;b\n"1\n2";x' })
      const text = await isolate.run('write_rows', { program: { format: 'csv' }, input: [{ a: '1\n2' }] })
      await isolate.close()
      expect([rows, text]).toMatchObject([
        { value: { rows: [{ a: '1\n2', b: 'x' }] } },
        { value: { text: 'a\n"1\n2"\n' } },
      ])
      expect(model).toMatchObject({ ok: true, value: { rows: 20, cv_accuracy_mean: 0.95 } })
      expect(sum).toMatchObject({ ok: true, value: 6 })
      expect(schema).toMatchObject({ ok: true })
    })
  })
}

function request(path: string) {
  return {
    httpMethod: 'GET',
    resource: path,
    path,
    headers: {},
    pathParameters: null,
    queryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: {
      accountId: '111122223333',
      identity: { userArn: 'arn:aws:sts::111122223333:assumed-role/dev/me' },
    },
  }
}
