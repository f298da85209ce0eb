import type { Command } from 'commander'
import { addNewDag } from './new-dag.ts'
import { addNewGate } from './new-gate.ts'
import type { Session } from './session.ts'

/** `sluice new ..`: the beginning of a document or a gate. */
export function addNew(parent: Command, session: Session): void {
  const group = parent.command('new').description('begin a DAG or a gate, valid from the first line')
  addNewDag(group, session)
  addNewGate(group, session)
}
