import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import type { MachineInput } from '../../../shared/runs/machine.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { type StepFunctionsEmulator, startStepFunctions } from '../../emulators/step-functions.ts'
import { startMachinesPlaces } from './machines-place.ts'

/** How the Step Functions adapter keeps machines that are too large for one. */
const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }
const HASH = sha256('a document')
const NAME = `sluice-test-x-${HASH.slice(0, 20)}`

/** A row of blocks cut into a whole and some parts. */
const row = (blocks: number) =>
  compileDag(
    { blocks: Array.from({ length: blocks }, (_, v) => ({ id: `b${v}`, upstream: v === 0 ? [] : [`b${v - 1}`] })) },
    { bytes: 6_000, events: 20_000 },
  )

let places: Awaited<ReturnType<typeof startMachinesPlaces>>
beforeAll(async () => {
  places = await startMachinesPlaces()
})
afterAll(() => places.close())
const services: StepFunctionsEmulator[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

async function open(hangAt?: string) {
  const called: string[] = []
  const service = await startStepFunctions({
    async invoke(arn, payload, signal) {
      const { block = arn.replace(/^.*-/, '') } = payload as { readonly block?: string }
      called.push(block)
      if (block === hangAt) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { end: 'completed' }
    },
  })
  services.push(service)
  const place = await places.open()
  return { service, called, place, machine: place.machine(service.aws) }
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('a row of twenty blocks in parts runs each block once, in order, to the verdict', async () => {
  const { machine, called } = await open()
  const { text, parts } = row(20)
  expect(parts.length).toBeGreaterThan(2)
  const id = await machine.ensure(text, HASH, parts)
  expect(await machine.named(text, HASH, parts)).toBe(id)
  await machine.start({ machine: id, name: 'run_a', input: INPUT })
  await until(async () => (await machine.describe(id, 'run_a'))?.status !== 'RUNNING')
  expect(await machine.describe(id, 'run_a')).toEqual({ status: 'SUCCEEDED' })
  expect(called).toEqual([...Array.from({ length: 20 }, (_, v) => `b${v}`), 'settle'])
})

test('parts are made before the whole; the id says how many there are and which texts they have', async () => {
  const { machine, service } = await open()
  const { text, parts } = row(20)
  const id = await machine.ensure(text, HASH, parts)
  expect(id).toMatch(
    new RegExp(`^arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${NAME}\\+${parts.length}\\.[0-9a-f]{8}$`),
  )
  expect(service.calls).toEqual(Array.from({ length: parts.length + 1 }, () => 'CreateStateMachine'))
  // Again is once, and another text of the same document has parts of its own: what runs keeps those it knows.
  expect(await machine.ensure(text, HASH, parts)).toBe(id)
  expect(service.calls).toHaveLength(parts.length + 1)
  const newer = parts.map((part) => ({ ...part, text: part.text.replace('{', '{"Comment":"newer",') }))
  const { machine: another } = await open()
  const newerId = await another.ensure(text, HASH, newer)
  expect(newerId.split('+')[0]).toBe(id.split('+')[0])
  expect(newerId).not.toBe(id)
})

test('stop() stops the whole and every part that runs', async () => {
  const { machine, service, called } = await open('b3')
  const { text, parts } = row(20)
  const id = await machine.ensure(text, HASH, parts)
  await machine.start({ machine: id, name: 'run_a', input: INPUT })
  await until(() => called.includes('b3'))
  expect(await service.running()).toBeGreaterThan(1)
  await machine.stop(id, 'run_a', 'a person asked')
  expect(await machine.describe(id, 'run_a')).toEqual({ status: 'ABORTED', cause: 'a person asked' })
  expect(await service.running()).toBe(0)
  expect(service.calls.filter((name) => name === 'StopExecution')).toHaveLength(parts.length + 1)
})

test('of a deployed machine with parts the version is started and the parts are stopped by name', async () => {
  const { machine, service } = await open()
  const arn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:sluice-test-basic:7+2`
  expect(await machine.describe(arn, 'run_a')).toBeUndefined()
  await machine.stop(arn, 'run_a', 'nothing there')
  expect(service.calls).toEqual(['DescribeExecution', 'StopExecution', 'StopExecution', 'StopExecution'])
})
