import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.ts'
import { findMutant } from './find-mutant.ts'
import { loadHandlers } from './functions.ts'
import { huntMutants } from './hunt-mutants.ts'
import { printOutcome } from './print-outcome.ts'
import type { SeedRange } from './run-seeds.ts'
import { PROFILES, type Profile } from './scenario.ts'
import { shrink } from './shrink.ts'
import { type Order, simulate } from './simulate.ts'
import type { StoreKind } from './system.ts'
import { openWire } from './wire/open-wire.ts'

/**
 * `npm run test:faults -- [--seeds N] [--from S] [--seed S] [--store sqlite|dynamodb] [--profile P] [--mutant M]
 * [--mutants] [--wire] [--whole] [--verbose]`. Without --seed it runs N seeds (default 200) on each store (or on the one named) in two
 * processes; --mutants looks for every planted mistake, up to 500 seeds each; with --seed it repeats that one, shrinks it if it fails (not with --whole) and prints its log. Exit code 1:
 * something was violated, or a point of a long run was not covered.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    store: { type: 'string' },
    profile: { type: 'string' },
    mutant: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    wire: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
})
/** Runs shorter than this cannot cover every point. */
const LONG = 5_000
const SHRUNK_AT_ONCE = 1

const print = (line: string) => void process.stdout.write(`${line}\n`)
const profile = values.profile === undefined ? {} : { profile: profileOf(values.profile) }
const mutant = values.mutant === undefined ? {} : { mutant: values.mutant }

process.exitCode = values.mutants
  ? await hunt()
  : values.seed === undefined
    ? await runAll()
    : await repeat(Number(values.seed), storeOf(values.store ?? 'dynamodb'))

async function hunt(): Promise<number> {
  await loadHandlers()
  return (await huntMutants(storesWanted(), print)).length > 0 ? 1 : 0
}

async function runAll(): Promise<number> {
  const count = Number(values.seeds)
  const from = Number(values.from)
  const { failed, uncovered } = await runCampaign({
    shares: sharesOf(from, count),
    ...mutant,
    over_wire: values.wire,
    print,
  })
  for (const point of uncovered) print(`not covered: ${point}`)
  for (const { seed, store } of failed.slice(0, SHRUNK_AT_ONCE)) await repeat(seed, store)
  for (const { seed, store } of failed)
    print(`again: npm run test:faults -- --seed ${seed} --store ${store}${wordsOf()}`)
  return failed.length > 0 || (count >= LONG && uncovered.length > 0) ? 1 : 0
}

/** Two processes, each with every other seed of each store. */
function sharesOf(from: number, count: number): readonly (readonly SeedRange[])[] {
  return [0, 1].map((odd) =>
    storesWanted().map((store) => ({
      from: from + odd,
      step: 2,
      count: Math.floor((count + 1 - odd) / 2),
      store,
      ...profile,
    })),
  )
}

async function repeat(seed: number, store: StoreKind): Promise<number> {
  await loadHandlers()
  const planted = await findMutant(values.mutant)
  const order: Order = { seed, store, ...profile, ...(planted === undefined ? {} : { mutant: planted }) }
  const wire = values.wire ? await openWire() : undefined
  try {
    return await repeatOn({ ...order, ...(wire === undefined ? {} : { wire }) })
  } finally {
    await wire?.close()
  }
}

async function repeatOn(order: Order): Promise<number> {
  const { seed, store } = order
  const first = await simulate(order)
  const fails = first.violations.length > 0
  const without = fails && !values.whole ? (await shrink(order, first)).without : undefined
  const shown = await simulate({ ...order, ...(without === undefined ? {} : { without }), verbose: values.verbose })
  if (fails) print(`seed ${seed} on ${store}, ${first.scenario.profile}: ${first.violations.join('\n  ')}`)
  if (without !== undefined) print(`shrunk from ${first.faults.length} faults to ${shown.faults.length}`)
  print(printOutcome(shown))
  return fails ? 1 : 0
}

function wordsOf(): string {
  return `${values.wire ? ' --wire' : ''}${values.profile === undefined ? '' : ` --profile ${values.profile}`}${values.mutant === undefined ? '' : ` --mutant ${values.mutant}`}`
}

/** Only one of them has a wire. */
function storesWanted(): readonly StoreKind[] {
  if (values.wire) return ['dynamodb']
  return values.store === undefined ? ['dynamodb', 'sqlite'] : [storeOf(values.store)]
}

function storeOf(name: string): StoreKind {
  if (name === 'sqlite' || name === 'dynamodb') return name
  throw new Error(`--store is sqlite or dynamodb, not ${name}`)
}

function profileOf(name: string): Profile {
  const found = PROFILES.find((one) => one === name)
  if (found === undefined) throw new Error(`--profile is one of ${PROFILES.join(', ')}, not ${name}`)
  return found
}
