import type { TaskGate } from '../../../shared/dag/dag.ts'
import {
  appendMove,
  type Task,
  type TaskMove,
  TaskSchema,
  type TaskStatus,
  taskAfterMove,
} from '../../../shared/dag/task-status.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Json } from '../../../shared/text/json.ts'
import { checkContextSize, recordContext } from '../../runs/context.ts'
import { type BlockHandler, type HandlerCall, handlerFault, readConfig } from './block-handler.ts'

/** Other writers of the context that a move gives way to before it says that it cannot get through. */
const MAX_TRIES = 20
const MAX_NOTES = 20_000
const MAX_ASSIGNED = 200

/**
 * Moves the run's task (value `task` of the shared context) to status `to`, if every gate of that move holds; else the
 * block fails and the task stays. Inputs `assigned` and `notes` go into it; where nobody gave notes, a move back from
 * review carries the verdicts that sent it back. Compare-and-set on the version: a block moves once an epoch, and a
 * repeat after a crash finds the move it made. Outputs, by name: status, from, assigned, notes, bounce_count, task.
 */
export const moveTask: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { to } = readConfig('move-task', call)
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { version, values } = (await call.world.runs.context(call.run)) ?? { version: 0, values: {} }
      const before = readTask(call, values)
      const own = before?.moves.find(isOwn(call))
      if (before !== undefined && own !== undefined) return finished(call, own, before)
      const task = await nextTask(call, before, to)
      if (task === undefined) return {}
      const move = moveOf(call, before, to, version + 1)
      const moved: Task = { ...task, moves: appendMove(before, move) }
      const item = { version: version + 1, values: { ...values, task: moved } }
      checkContextSize(item)
      call.signal.throwIfAborted()
      if (await call.world.runs.putContext(call.run, item, version)) return finished(call, move, moved)
    }
    const message = `Cannot move the task of block "${call.block_id}": its context was changed ${MAX_TRIES} times meanwhile.`
    throw new Fault('Unavailable', 'context_busy', message)
  },
}

function readTask(call: HandlerCall, { task }: Readonly<Record<string, Json>>): Task | undefined {
  if (task === undefined || task === null) return undefined
  const parsed = TaskSchema.safeParse(task)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const at = ['task', ...(issue?.path ?? [])].join('.')
  const words = `"${at}" of the context is no task: ${issue?.message}. Blocks with move-task write it, nobody else; start without it.`
  throw handlerFault(call, 'move-task', 'bad_task', words)
}

function isOwn({ run, block_id, epoch }: HandlerCall): (move: TaskMove) => boolean {
  return (move) => move.run_id === run.run_id && move.block_id === block_id && move.epoch === epoch
}

/** The task as the move leaves it; undefined: a gate does not hold. A move that no gate can allow is a fault. */
async function nextTask(call: HandlerCall, before: Task | undefined, to: TaskStatus) {
  const assigned = textInput(call, 'assigned', MAX_ASSIGNED)
  const isBack = before?.status === 'REVIEW' && to === 'IN_PROGRESS'
  const notes = textInput(call, 'notes', MAX_NOTES) ?? (isBack ? call.feedback.join('\n').slice(0, MAX_NOTES) : '')
  const after = taskAfterMove(before, {
    to,
    ...(assigned === undefined ? {} : { assigned }),
    notes: notes.toWellFormed(),
  })
  if (!after.ok) {
    const message = `Cannot run block "${call.block_id}" (move-task): the task cannot be moved to ${to}: ${after.reason}.`
    throw new Fault('GateFailed', 'task_move_refused', message)
  }
  const { assigned: who, notes: said, bounce_count } = after.task
  const ports = { ...(before === undefined ? {} : { status: before.status }), assigned: who, notes: said, bounce_count }
  const gates = call.task_gates.filter(standsBefore(before?.status, to))
  const measured = { cost_usd: null, latency_ms: null }
  // Expressions name their root: the task is both.
  const holds = await call.judge(gates, { inputs: ports, outputs: ports, measured })
  return holds ? after.task : undefined
}

function textInput(call: HandlerCall, name: 'assigned' | 'notes', most: number): string | undefined {
  const value = Object.hasOwn(call.inputs, name) ? call.inputs[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value.length <= most) return value
  const seen = typeof value === 'string' ? `${value.length} characters` : `a ${typeof value}`
  throw handlerFault(
    call,
    'move-task',
    'bad_task_input',
    `input "${name}" is ${seen}; a text of at most ${most} is needed.`,
  )
}

function standsBefore(from: TaskStatus | undefined, to: TaskStatus): (gate: TaskGate) => boolean {
  return (gate) => (gate.from === undefined || gate.from === from) && (gate.to === undefined || gate.to === to)
}

function moveOf({ run, block_id, epoch }: HandlerCall, before: Task | undefined, to: TaskStatus, version: number) {
  return { run_id: run.run_id, block_id, epoch, from: before?.status ?? null, to, version }
}

/** Its event may be missing after a crash; of a run that has ended meanwhile there is nothing more to tell. */
async function finished(call: HandlerCall, { from, to, version }: TaskMove, task: Task): Promise<Record<string, Json>> {
  await recordContext(call.world, call.run, version, ['task'])
  const { assigned, notes, bounce_count } = task
  const values: Record<string, Json> = {
    status: to,
    assigned,
    notes,
    bounce_count,
    task,
    ...(from === null ? {} : { from }),
  }
  return Object.fromEntries(Object.entries(values).filter(([port]) => Object.hasOwn(call.outputs, port)))
}
