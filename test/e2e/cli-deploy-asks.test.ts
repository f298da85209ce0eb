import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { firstDaily } from '../how-much.ts'
import { type Checkout, openCheckout } from './checkout.ts'
import { noTerminal } from './pseudo-terminal.ts'
import { sluice } from './run-cli.ts'
import { CTRL_C, CTRL_D, typeOnTerminal } from './typed-terminal.ts'

/** What `sluice deploy` and `sluice destroy` do with what a person types on a real terminal. */
const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
const missing = noTerminal()

let checkout: Checkout
beforeEach(async () => {
  checkout = await openCheckout()
})
afterEach(() => checkout.close())

const type = (args: readonly string[], ...types: readonly (readonly [string, string])[]) =>
  typeOnTerminal([process.execPath, BIN, ...args], { cwd: checkout.folder, env: checkout.env, types })
const verbs = () => checkout.cdkCalls().map((line) => line.split(' ')[0])

describe.skipIf(missing !== undefined)('sluice deploy on a terminal', () => {
  const QUESTION = 'Deploy stage dev? [y/n] '

  for (const { tags, rows } of firstDaily(1, ['y\r', 'yes\r', 'Y\r']))
    test.each(rows)('%j deploys what was shown before', { tags }, async (keys) => {
      const { code, shown } = await type(['deploy'], [QUESTION, keys])
      expect([code, verbs()]).toEqual([0, ['synth', 'deploy']])
      const order = ['Permissions:', 'Idle: $', '1,000 runs', QUESTION, 'cdk says deploy', 'Deployed.']
      const places = order.map((words) => shown.indexOf(words))
      expect(places.every((at) => at >= 0)).toBe(true)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    })

  for (const { tags, rows } of firstDaily(1, [
    ['n', 'n\r'],
    ['Ctrl-C', CTRL_C],
    ['nothing', '\r'],
    ['anything else', 'yeah sure\r'],
    ['the end of the input', CTRL_D],
  ]))
    test.each(rows)('%s deploys nothing, and says so', { tags }, async (_, keys) => {
      const { code, shown } = await type(['deploy'], [QUESTION, keys])
      expect([code, verbs()]).toEqual([1, ['synth']])
      expect(shown).toMatch(/\nerror: Nothing was deployed\. --yes deploys without asking\. \[not_confirmed\]\n/)
      expect(shown).not.toMatch(/bug|AbortError|cdk says deploy/)
    })

  test('--yes asks nobody', { tags: ['thorough'] }, async () => {
    const { code, shown } = await type(['deploy', '--yes'])
    expect([code, verbs()]).toEqual([0, ['synth', 'deploy']])
    expect(shown).not.toContain('[y/n]')
  })
})

describe.skipIf(missing !== undefined)('sluice destroy on a terminal', () => {
  const QUESTION = 'Type dev to go on: '

  test('the name of the stage destroys API and machines, and only after what goes was said', async () => {
    const { code, shown } = await type(['destroy'], [QUESTION, 'dev\r'])
    expect([code, verbs()]).toEqual([0, ['synth', 'destroy']])
    expect(shown.indexOf('the table and the bucket stay')).toBeLessThan(shown.indexOf(QUESTION))
    expect(shown).toContain('Stage dev is down.')
  })

  for (const { tags, rows } of firstDaily(1, [
    ['another stage', 'prod\r', '"prod" is not "dev"'],
    ['a yes', 'y\r', '"y" is not "dev"'],
    ['the name in capitals', 'DEV\r', '"DEV" is not "dev"'],
    ['nothing', '\r', 'no name was typed'],
    ['Ctrl-C', CTRL_C, 'no name was typed'],
    ['the end of the input', CTRL_D, 'no name was typed'],
  ]))
    test.each(rows)('%s destroys nothing, data neither', { tags }, async (_, keys, why) => {
      const { code, shown } = await type(['destroy', '--with-data'], [QUESTION, keys])
      expect([code, verbs()]).toEqual([1, []])
      expect(shown).toContain('Nothing brings it back.')
      expect(shown).toContain(`error: Nothing was destroyed: ${why}.`)
      expect(checkout.calls).toEqual(['DescribeStacks CDKToolkit'])
    })
})

test('a pipe is nobody: what it says is no answer', async () => {
  const given = { cwd: checkout.folder, env: checkout.env, stdin: 'y\ndev\n' }
  const deployed = await sluice(['deploy'], given)
  const destroyed = await sluice(['destroy'], given)
  expect([deployed.code, destroyed.code, verbs()]).toEqual([1, 1, ['synth']])
  expect(deployed.err + destroyed.err).toMatch(/Nobody can be asked here.*Nobody can be asked here/s)
})
