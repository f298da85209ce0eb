import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { openHttp, openShell } from '../../../functions/aws/function-calls.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { type EmulatedFunction, type LambdaEmulator, startLambda } from '../../emulators/lambda.ts'
import { awsSettings, lambdaArn } from './aws-settings.ts'

/** The ports http and shell on AWS: calls of functions that are waited for, made once. */
const services: LambdaEmulator[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

async function open(functions: Readonly<Record<string, EmulatedFunction>>, allow: readonly string[][] = [['true']]) {
  const service = await startLambda({ functions })
  services.push(service)
  // What other calls of ours get: a gate's own time limit must win over it.
  const config = { ...service.aws, requestHandler: { requestTimeout: 100, throwOnRequestTimeout: true } }
  const env = awsSettings({ NET_GATE_ARN: lambdaArn('net-gate'), SHELL_GATE_ARN: lambdaArn('shell-gate') })
  const settings = SettingsSchema.parse({ shell_gates: { allow } })
  return { http: openHttp({ env }, config), shell: openShell({ env, settings }, config) }
}

const REQUEST = { method: 'POST', url: 'https://example.com/ü', timeout_ms: 1_000, body: { a: [1] } } as const

test('a request reaches net-gate as it is, and its answer comes back, however long it takes', async () => {
  const seen: unknown[] = []
  const answer = { kind: 'failed', reason: 'no whole answer within 600 ms ü' } as const
  const { http } = await open({
    async 'sluice-test-net-gate'(event) {
      seen.push(event)
      await sleep(600)
      return answer
    },
  })
  expect(await http.request(REQUEST)).toEqual(answer)
  expect(seen).toEqual([REQUEST])
})

test('a function that breaks off is called once, and told by name without its words', async () => {
  let calls = 0
  const { http } = await open({
    async 'sluice-test-net-gate'() {
      calls += 1
      throw new Error('secret words')
    },
  })
  const error = await http.request(REQUEST).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'Unavailable', code: 'function_failed' })
  expect(String(error)).toContain('"net-gate"')
  expect(String(error)).not.toContain('secret')
  expect(calls).toBe(1)
})

test('a command that is not listed is refused here, since there may be no function to call', async () => {
  const calls: unknown[] = []
  const { shell } = await open({
    async 'sluice-test-shell-gate'(event) {
      calls.push(event)
      return { kind: 'ended', exit_code: 0, stdout: '', stderr: '' }
    },
  })
  expect(await shell.run({ argv: ['env'], timeout_ms: 10 })).toMatchObject({ kind: 'refused' })
  expect(calls).toEqual([])
  expect(await shell.run({ argv: ['true', 'x'], timeout_ms: 10 })).toMatchObject({ kind: 'ended', exit_code: 0 })
  expect(calls).toEqual([{ argv: ['true', 'x'], timeout_ms: 10 }])
})
