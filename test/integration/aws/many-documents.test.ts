import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { afterAll, describe, expect, test } from 'vitest'
import { buildApp } from '../../../infra/aws/build-app.ts'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { type DeployedDag, readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { shareDocuments } from '../../../infra/aws/documents-stack.ts'
import { requireQuotas } from '../../../infra/aws/measure-quotas.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { WHOLE } from '../../how-much.ts'
import { type Assembly, readAssembly, stacksIn, textOf } from './assembly.ts'
import { growingDocument } from './growing-document.ts'
import { cdkContext, writePlaceholders } from './synthesized.ts'

/** Hundreds of documents on one stage. Of the functions only the names matter here, so their code is empty. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-many-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** CloudFormation's quotas of a template, Lambda's of an environment, IAM's of all inline policies of a role. */
const QUOTAS = { resources: 500, template: 1_000_000, environment: 4_096, policies: 10_240 }

function documents(count: number): readonly DeployedDag[] {
  const dir = join(folder, `dags-${count}`)
  mkdirSync(dir, { recursive: true })
  for (let i = 0; i < count; i++) {
    // As long as names may be: a machine's has 40 characters of it.
    const name = `document number ${String(i).padStart(4, '0')} of a stage with very many`
    writeFileSync(join(dir, `d${i}.yaml`), growingDocument(2 + (i % 9), name))
  }
  return readDeployedDags(dir, dir)
}

function synthesize(dags: readonly DeployedDag[], context: object, name: string): Assembly {
  const built = join(folder, name)
  writePlaceholders(built)
  const app = new App({
    outdir: join(built, 'out'),
    analyticsReporting: false,
    context: { ...cdkContext(), ...context },
  })
  const deploy = readDeploySettings((key) => app.node.tryGetContext(key))
  const settings = SettingsSchema.parse({ audit: { anchor: 's3-object-lock' } })
  buildApp({ app, deploy, settings, dags, built })
  requireQuotas(app.synth(), { documents: dags.length, spread: deploy.document_stacks })
  return readAssembly(join(built, 'out'))
}

/** What is nearest to its quota, in bytes or pieces, by what it is. */
function measure(made: Assembly) {
  const inline = ({ Policies = [] }: Readonly<Record<string, unknown>>) =>
    (Policies as readonly { readonly PolicyDocument: unknown }[]).reduce(
      (sum, { PolicyDocument }) => sum + longest(PolicyDocument).length,
      0,
    )
  const environments = made.all('AWS::Lambda::Function').map(({ Properties }) => longest(Properties.Environment).length)
  return {
    stacks: stacksIn(made.out).map((stack) => [
      stack,
      Object.keys(made.template(stack)).length,
      statSync(join(made.out, `${stack}.template.json`)).size,
    ]) as [string, number, number][],
    environment: Math.max(...environments),
    policies: Math.max(...made.all('AWS::IAM::Role').map(({ Properties }) => inline(Properties))),
  }
}

/** JSON with what only AWS knows at its longest. */
function longest(value: unknown): string {
  const filled = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one
    if (Array.isArray(one)) return one.map(filled)
    const [kind = ''] = Object.keys(one)
    const isIntrinsic = Object.keys(one).length === 1 && (kind === 'Ref' || kind.startsWith('Fn::'))
    return isIntrinsic ? textOf(one).replaceAll(/<[^>]+>/g, 'ap-southeast-1') : mapped(one, filled)
  }
  return JSON.stringify(filled(value) ?? {})
}

function mapped(one: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(one).map(([key, value]) => [key, change(value)]))
}

function holds(made: Assembly): void {
  const { stacks, environment, policies } = measure(made)
  process.stdout.write(`${stacks.map((one) => one.join(' ')).join(', ')}; ${environment}; ${policies}\n`)
  expect(stacks.filter(([, resources, bytes]) => resources > QUOTAS.resources || bytes > QUOTAS.template)).toEqual([])
  expect(environment).toBeLessThanOrEqual(QUOTAS.environment)
  expect(policies).toBeLessThanOrEqual(QUOTAS.policies)
}

const machinesIn = (made: Assembly, stack: string) =>
  Object.values(made.template(stack)).flatMap(({ Type, Properties }) =>
    Type === 'AWS::StepFunctions::StateMachine' ? [textOf(Properties.StateMachineName)] : [],
  )

describe('sluice:document_stacks', () => {
  test('is 0 by default: every machine stands beside the functions', { tags: ['thorough'] }, () => {
    const made = synthesize(documents(3), {}, 'usual')
    expect(stacksIn(made.out)).toEqual([
      'SluiceAnchors',
      'SluiceApi',
      'SluiceData',
      'SluiceMachines',
      'SluiceOperations',
    ])
    expect(machinesIn(made, 'SluiceMachines')).toHaveLength(4)
  })

  test('shares the machines by the hash of their names: adding and taking away others moves none', () => {
    const all = documents(40)
    const placeOf = (dags: readonly DeployedDag[]) =>
      new Map(shareDocuments(dags, 4).flatMap((share, i) => share.map(({ slug }) => [slug, i] as const)))
    const before = placeOf(all)
    expect([...new Set(before.values())].sort()).toEqual([0, 1, 2, 3])
    for (const some of [all.slice(7), all.toReversed(), all.filter((_, i) => i % 3 === 0)]) {
      expect([...placeOf(some)].filter(([slug, share]) => before.get(slug) !== share)).toEqual([])
    }
  })

  const dags = () => documents(12)
  let three: Assembly | undefined
  const inThree = () => {
    three ??= synthesize(dags(), { 'sluice:document_stacks': '3' }, 'three')
    return three
  }
  const propertiesOf = (from: Assembly) =>
    from
      .all('AWS::StepFunctions::StateMachine')
      .map(({ Properties }) => Properties)
      .filter(({ StateMachineName }) => !/research/.test(textOf(StateMachineName)))

  test('puts every machine, with the same role and log group, into exactly one stack', { tags: ['thorough'] }, () => {
    const made = inThree()
    const of = [1, 2, 3].map((k) => machinesIn(made, `SluiceDocuments${k}`))
    expect(machinesIn(made, 'SluiceMachines')).toEqual(['sluice-dev-research'])
    expect(of.flat().sort()).toEqual(
      dags()
        .map(({ slug }) => `sluice-dev-${slug}`)
        .sort(),
    )
    const [apart] = propertiesOf(made)
    expect(textOf(apart?.RoleArn)).toBe('arn:<Partition>:iam::<AccountId>:role/sluice-dev-machines-<Region>')
    expect(JSON.stringify(apart?.LoggingConfiguration)).toContain(':/aws/vendedlogs/states/sluice-dev:*')
  })

  test('gives a machine apart the functions it has beside them', { tags: ['thorough'] }, () => {
    const [apart] = propertiesOf(inThree())
    const beside = propertiesOf(synthesize(dags(), {}, 'together')).find(
      (one) => textOf(one.StateMachineName) === textOf(apart?.StateMachineName),
    )
    expect(Object.keys(apart?.DefinitionSubstitutions ?? {})).toEqual(
      Object.keys(beside?.DefinitionSubstitutions ?? {}),
    )
  })

  test('makes no stack that is empty: CloudFormation takes none', { tags: ['thorough'] }, () => {
    const empty = synthesize(dags().slice(0, 1), { 'sluice:document_stacks': '3' }, 'nearly-empty')
    expect([1, 2, 3].filter((k) => Object.keys(empty.template(`SluiceDocuments${k}`)).length === 0)).toEqual([])
  })

  test('cannot be another number later: CloudFormation keeps the first one and refuses the template', {
    tags: ['thorough'],
  }, () => {
    for (const stack of ['SluiceMachines', 'SluiceDocuments1', 'SluiceDocuments2', 'SluiceDocuments3']) {
      const { Parameters, Rules } = inThree().whole(stack)
      expect(Parameters?.DocumentStacks).toMatchObject({ Type: 'String', Default: '3' })
      expect(Rules?.DocumentStacksStay?.Assertions).toMatchObject([
        { Assert: { 'Fn::Equals': [{ Ref: 'DocumentStacks' }, '3'] } },
      ])
    }
  })

  test.each(['-1', '21', 'many', '1.5'])('is 0 to 20, and %s is refused by name', (given) => {
    expect(() =>
      readDeploySettings(
        (key) => ({ 'sluice:stage': 'dev', 'sluice:auth': 'iam', 'sluice:document_stacks': given })[key],
      ),
    ).toThrow(`"sluice:document_stacks" is ${JSON.stringify(given)}; allowed: 0 to 20`)
  })
})

describe('how many documents', () => {
  test('that do not fit are refused before anything is written, with what would fit', { tags: ['thorough'] }, () => {
    expect(() => synthesize(documents(150), {}, 'too-many')).toThrow(
      /^Cannot deploy 150 documents: stack SluiceMachines would have 5\d\d resources, and CloudFormation takes 500\. .* say -c sluice:document_stacks=2\./,
    )
  })

  test('300 fit into four stacks, within every quota', (context) => {
    if (!WHOLE) return context.skip('asked in npm run test:all')
    const made = synthesize(
      documents(300),
      { 'sluice:stage': 'abcdefghijkl', 'sluice:document_stacks': '4' },
      'three-hundred',
    )
    expect(stacksIn(made.out)).toHaveLength(8)
    holds(made)
  }, 600_000)

  test('30 fit into two, within every quota, and no value leaves a stack', {
    tags: ['thorough'],
    timeout: 200_000,
  }, () => {
    const made = synthesize(documents(30), { 'sluice:stage': 'abcdefghijkl', 'sluice:document_stacks': '2' }, 'thirty')
    holds(made)
    for (const stack of stacksIn(made.out)) {
      expect(JSON.stringify(made.whole(stack))).not.toMatch(/ImportValue|GetStackOutput/)
    }
  })
})
