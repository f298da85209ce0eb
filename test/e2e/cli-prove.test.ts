import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Checkout, openCheckout } from './checkout.ts'
import { noTerminal } from './pseudo-terminal.ts'
import { type Done, sluice } from './run-cli.ts'
import { typeOnTerminal } from './typed-terminal.ts'

/** What `sluice deploy --prove` does around its steps; the steps themselves are driven in test/aws/prove.test.ts. */
const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))

const missing = noTerminal()

let checkout: Checkout
beforeEach(async () => {
  checkout = await openCheckout()
})
afterEach(() => checkout.close())

const prove = (...more: readonly string[]): Promise<Done> =>
  sluice(['deploy', '--prove', '--report', 'page.md', ...more], { cwd: checkout.folder, env: checkout.env })
const verbs = () => checkout.cdkCalls().map((line) => line.split(' ')[0])

test('shows account, region and cost, and deploys nothing where nobody says yes', async () => {
  const { code, out, err } = await prove()
  expect(out).toMatch(/A stage of its own, prove\w{7}, in account 111122223333, eu-central-1; no other stage is/)
  expect(out).toMatch(/Estimated cost: \$\d\.\d\d, at most \$\d\.\d\d/)
  expect(err).toMatch(/Nothing was deployed: Nobody can be asked here.*--yes.*\[not_confirmed\]/s)
  expect([code, verbs()]).toEqual([1, ['synth']])
})

describe.skipIf(missing !== undefined)('on a terminal', () => {
  const type = (keys: string) =>
    typeOnTerminal([process.execPath, BIN, 'deploy', '--prove', '--report', 'page.md'], {
      cwd: checkout.folder,
      env: checkout.env,
      types: [["Type the account's number to deploy and destroy there: ", keys]],
    })

  test('the number of the account goes on, a yes does not', async () => {
    checkout.heard.cdk = async ([verb]) => (verb === 'deploy' ? { code: 1 } : {})
    const yes = await type('yes\r')
    expect([yes.code, verbs()]).toEqual([1, ['synth']])
    expect(yes.shown).toContain('Nothing was deployed: "yes" is not 111122223333.')
    await type('111122223333\r')
    expect(verbs()).toEqual(['synth', 'synth', 'deploy', 'destroy', 'destroy'])
  })
})

test('is about a stage of its own, and about settings that can be taken down again', async () => {
  const staged = await prove('--yes', '--stage', 'prod')
  const elsewhere = await sluice(['deploy', '--blocks', '20'], { cwd: checkout.folder, env: checkout.env })
  writeFileSync(join(checkout.folder, 'sluice.yaml'), 'authoring: deployed_only\n')
  const closed = await prove('--yes')
  writeFileSync(join(checkout.folder, 'sluice.yaml'), 'audit: { anchor: s3-object-lock, retention_days: 365 }\n')
  const anchored = await prove('--yes')
  expect([staged, elsewhere].map(({ code, err }) => [code, /\[usage\]/.test(err)])).toEqual([
    [2, true],
    [2, true],
  ])
  expect(closed.err).toMatch(/authoring: deployed_only.*\[not_provable\]/s)
  expect(anchored.err).toMatch(/audit\.anchor.*\[not_provable\]/s)
  expect(verbs()).toEqual([])
})

test('takes down what a deployment that failed has begun, and says that nothing was tried', async () => {
  checkout.heard.cdk = async ([verb]) => (verb === 'deploy' ? { code: 1 } : {})
  const { code, out } = await prove('--yes')
  expect([code, verbs()]).toEqual([100, ['synth', 'deploy', 'destroy', 'destroy']])
  expect(out).toMatch(/0 of 9 steps held\n {2}NOT HELD {2}deploy .*not tried health .*the stage was not deployed/s)
  expect(checkout.calls.some((call) => call.startsWith('DeleteTable sluice-prove'))).toBe(true)
})

test('names what could not be destroyed with the command that does it, and destroys the rest', async () => {
  checkout.heard.cdk = async ([verb, first]) => {
    if (verb === 'deploy') return { code: 1 }
    return verb === 'destroy' && first !== 'SluiceData' ? { code: 1 } : {}
  }
  checkout.state.refuses = { DeleteTable: 'User: arn:aws:iam::1:user/a is not authorized' }
  const { code, out } = await prove('--yes')
  const stage = /stage of its own, (prove\w{7}),/.exec(out)?.[1] ?? ''
  expect(code).toBe(1)
  // Each is tried twice; what comes behind goes all the same.
  expect(verbs()).toEqual(['synth', 'deploy', 'destroy', 'destroy', 'destroy'])
  expect(out).toContain(`aws cloudformation delete-stack --stack-name sluice-${stage}-machines --region eu-central-1`)
  expect(out).toContain(`aws dynamodb delete-table --table-name sluice-${stage} --region eu-central-1`)
  expect(checkout.calls).toContain(`DeleteBucket sluice-${stage}-111122223333-eu-central-1`)
  expect(readFileSync(join(checkout.folder, 'page.md'), 'utf8')).toContain(`Left: the stacks sluice-${stage}-api`)
})

test('Ctrl-C waits for the deployment that is under way, tries nothing more, and destroys', async () => {
  const deploying = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  checkout.heard.cdk = async ([verb]) => {
    if (verb !== 'deploy') return {}
    deploying.resolve()
    await release.promise
    return {}
  }
  const child = spawn(process.execPath, [BIN, 'deploy', '--prove', '--yes', '--report', 'page.md'], {
    cwd: checkout.folder,
    env: { ...process.env, ...checkout.env, SLUICE_URL: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const ended = once(child, 'close')
  await deploying.promise
  child.kill('SIGINT')
  await expect.poll(() => said).toContain('Stopping: what is deployed now is waited for')
  expect(verbs()).toEqual(['synth', 'deploy'])
  release.resolve()
  const [code] = await ended
  expect([code, verbs()]).toEqual([130, ['synth', 'deploy', 'destroy', 'destroy']])
  expect(said).toMatch(/not tried health .*stopped before it/)
  expect(checkout.calls.some((call) => call.startsWith('DeleteBucket sluice-prove'))).toBe(true)
})
