import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { assembled } from './assembled.ts'
import { assembledWithAll } from './assembled-with-all.ts'
import { readAssembly, stacksIn } from './assembly.ts'
import { creationOrder, NEEDS, orderProblems } from './creation-order.ts'

/** In a first deployment CloudFormation creates at the same time whatever does not depend on one another. */
const VARIANTS = [
  ['as shipped', () => assembled()],
  ['with everything that settings can ask for', assembledWithAll],
  [
    'with documents in stacks of their own and a web ACL',
    () => assembled({ 'sluice:document_stacks': 2, 'sluice:waf': 'managed' }),
  ],
] as const

const scratch = mkdtempSync(join(tmpdir(), 'sluice-order-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.each(VARIANTS)('the templates %s', (_, assembly) => {
  test('leave nothing to chance that one thing needs of another', async () => {
    const { problems, met } = orderProblems(creationOrder(await assembly()))
    expect(problems).toEqual([])
    // A need that finds nothing shows nothing.
    expect([...met.keys()].length).toBeGreaterThan(8)
  }, 300_000)
})

describe('the check', () => {
  /** What is taken out of a template, and which resource is then too early. */
  const PLANTED: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    [
      'the stage does not wait for the account',
      (text) => text.replaceAll(/"GatewayLogsAccount\w*"(?!:),?/g, ''),
      /AWS::ApiGateway::Stage\) may be begun before .*AWS::ApiGateway::Account/,
    ],
    [
      'the deployment does not wait for an answer of the gateway',
      (text) => text.replace(/"ApiTHROTTLED\w*",?/, ''),
      /AWS::ApiGateway::Deployment\) may be begun before .*AWS::ApiGateway::GatewayResponse/,
    ],
    [
      'a log resource policy beside the machines',
      (text) =>
        text.replace(
          '"Resources": {',
          '"Resources": {"Logs": {"Type": "AWS::Logs::ResourcePolicy", "Properties": {}},',
        ),
      /AWS::(StepFunctions::StateMachine|ApiGateway::Stage)\) may be begun before .*AWS::Logs::ResourcePolicy/,
    ],
    [
      "a policy of the machines' role that is made after it",
      (text) =>
        text.replace(
          '"Resources": {',
          '"Resources": {"Late": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "MachinesRole7D6A5CC5"}]}},',
        ),
      /AWS::StepFunctions::StateMachine\) may be begun before .*AWS::IAM::Policy/,
    ],
  ]

  test.each(PLANTED)(
    'finds that %s',
    async (what, plant, told) => {
      const { out } = await assembled()
      const copy = join(scratch, what.replaceAll(/\W+/g, '-'))
      const role = /"(MachinesRole\w+)": \{/.exec(readFileSync(join(out, 'SluiceMachines.template.json'), 'utf8'))?.[1]
      for (const file of ['manifest.json', ...stacksIn(out).map((stack) => `${stack}.template.json`)]) {
        cpSync(join(out, file), join(copy, file))
        if (file === 'manifest.json') continue
        const text = plant(readFileSync(join(copy, file), 'utf8')).replaceAll('MachinesRole7D6A5CC5', role ?? '')
        writeFileSync(join(copy, file), text.replaceAll(/,(\s*])/g, '$1'))
      }
      const { problems } = orderProblems(creationOrder(readAssembly(copy)))
      expect(problems.join('\n')).toMatch(told)
    },
    300_000,
  )

  test('has a need for every kind of thing that others were too early for', () => {
    expect(new Set(NEEDS.map(({ type }) => type)).size).toBeGreaterThan(8)
  })
})
