import { type Dag, DEFAULT_COMPLETION } from '../../shared/dag/dag.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import type { GoalContract } from '../../shared/goals/goal-contract.ts'
import { type ContractError, freezeContract, readGoalContract } from '../../shared/goals/read-contract.ts'
import type { Meta, RunGoal } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { unavailableIfMissing } from './pinned-run.ts'

interface GoalOrder {
  readonly dag: Dag
  /** The contract of the request; undefined = it has none. Anything else is one, right or wrong. */
  readonly given: unknown
  /** What the run starts with: targets may be inputs. */
  readonly values: Readonly<Record<string, Json>>
}

/**
 * What a run is judged by, fixed before it starts: the contract (that of the request goes first) is checked, its targets
 * are bound, and it is stored by its hash. undefined = nothing but its blocks. Faults InvalidInput goal_contract_invalid
 * with every error, goal_contract_missing.
 */
export async function freezeGoal(
  { objects }: Pick<World, 'objects'>,
  tenant: string,
  { dag, given, values }: GoalOrder,
): Promise<RunGoal | undefined> {
  const { completion, goal_contract } = dag
  const source = given === undefined ? 'dag' : 'request'
  const own = goal_contract === undefined ? undefined : { goal_contract }
  const contract = given === undefined ? own : given
  if (contract === undefined) {
    if (completion?.contract === 'required') throw missing(dag)
    return completion === undefined ? undefined : { completion }
  }
  const read = readGoalContract(contract, values)
  if (!read.ok) throw invalid(dag, read.errors)
  const { text, hash } = freezeContract(read.contract)
  const { ref } = await objects.put(tenant, Buffer.from(text))
  return { contract_ref: ref, contract_hash: hash, source, completion: completion ?? DEFAULT_COMPLETION }
}

/** The contract a run was started with; undefined = it has none. META names it, so it was written: missing is away. */
export async function frozenContract(
  { objects }: Pick<World, 'objects'>,
  { tenant, run_id, goal }: Pick<Meta, 'tenant' | 'run_id' | 'goal'>,
): Promise<GoalContract | undefined> {
  if (goal?.contract_ref === undefined) return undefined
  const body = await objects
    .get(tenant, goal.contract_ref)
    .catch(unavailableIfMissing(`the goal contract of run "${run_id}"`))
  // The store answers only bytes that have the hash of their ref: it is what freezeGoal wrote.
  return JSON.parse(Buffer.from(body).toString('utf8')) as GoalContract
}

/** Of a run that goes on with the goal of another one: the same contract, stored once more, since objects age. */
export async function carryGoal({ objects }: Pick<World, 'objects'>, meta: Meta): Promise<RunGoal | undefined> {
  const ref = meta.goal?.contract_ref
  if (ref !== undefined) await objects.put(meta.tenant, await objects.get(meta.tenant, ref))
  return meta.goal
}

/** A list of any length would be. */
const MOST_ISSUES = 20

function invalid({ name }: Dag, errors: readonly ContractError[]): Fault {
  const issues = errors.slice(0, MOST_ISSUES).map(({ path, message }): Issue => {
    const inner = path.replace(/^goal_contract\.?/, '')
    return { path: inner === '' ? 'goal_contract' : `goal_contract.${inner}`, message }
  })
  const words = errors.length === 1 ? errors[0]?.message : `${errors.length} things are wrong with its goal contract.`
  return new Fault('InvalidInput', 'goal_contract_invalid', `Cannot start DAG "${name}": ${words}`, { issues })
}

function missing({ name }: Dag): Fault {
  const message = `Cannot start DAG "${name}": it says completion.contract: required, and neither the request nor the document has a goal_contract. Give the run one: "goal_contract" of the request, or --goal-contract FILE.`
  return new Fault('InvalidInput', 'goal_contract_missing', message)
}
