import { statSync } from 'node:fs'
import { CfnResource, type Stack } from 'aws-cdk-lib'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import { Fault } from '../../shared/errors.ts'

/** CloudFormation's quotas of one stack. */
const RESOURCES = 500

const TEMPLATE_BYTES = 1_000_000

/** What a synthesis was asked for, to say what would be less. */
interface Asked {
  readonly documents: number
  /** `sluice:document_stacks`. */
  readonly spread: number
}

/** Fault InvalidInput too_many_documents, before anything is written. */
export function requireResourceRoom(stacks: readonly Stack[], asked: Asked): void {
  for (const stack of stacks) {
    const resources = stack.node.findAll().filter((node) => CfnResource.isCfnResource(node)).length
    if (resources <= RESOURCES) continue
    throw tooMany(stack.artifactId, `${resources} resources, and CloudFormation takes ${RESOURCES}`, asked)
  }
}

/** The same of the templates that were written. */
export function requireSmallTemplates({ stacks }: CloudAssembly, asked: Asked): void {
  for (const { id, templateFullPath } of stacks) {
    const { size } = statSync(templateFullPath)
    if (size <= TEMPLATE_BYTES) continue
    throw tooMany(id, `a template of ${size} bytes, and CloudFormation takes ${TEMPLATE_BYTES}`, asked)
  }
}

function tooMany(stack: string, what: string, { documents, spread }: Asked): Fault {
  const enough = Math.max(spread + 1, Math.ceil(documents / 100))
  const message = `Cannot deploy ${documents} documents: stack ${stack} would have ${what}. sluice:document_stacks is ${spread}; a stage that was never deployed takes another number, say -c sluice:document_stacks=${enough}. One that was keeps its own: docs/deploy.md, "Many documents", says what to do there.`
  return new Fault('InvalidInput', 'too_many_documents', message)
}
