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

/** Characters of the inline policies of a role together, white space not counted. Source: IAM quotas, "Role inline policy size". */
const ROLE_POLICIES = 10_240

/** Fault InvalidInput role_too_large: what documents, steps, containers and tenants ask for makes a role say more than IAM takes. */
export function requireRoleRoom({ stacks }: Pick<CloudAssembly, 'stacks'>): void {
  for (const { id, template } of stacks) {
    const { Resources = {} } = template as { readonly Resources?: Readonly<Record<string, RoleResource>> }
    for (const [name, { Type, Properties }] of Object.entries(Resources)) {
      if (Type !== 'AWS::IAM::Role') continue
      const policies = (Properties?.Policies ?? []).map(
        (policy) => [policy.PolicyName, sizeOf(policy.PolicyDocument)] as const,
      )
      const size = policies.reduce((sum, [, one]) => sum + one, 0)
      if (size <= ROLE_POLICIES) continue
      const most = policies.toSorted(([, a], [, b]) => b - a).slice(0, 3)
      const parts = most.map(([policy, one]) => `${String(policy)} ${one}`).join(', ')
      const message = `Cannot deploy: role ${name} of stack ${id} would have policies of ${size} characters, and IAM takes ${ROLE_POLICIES} (the most of it: ${parts}). Let documents name fewer calls, functions, containers or steps, give their rights on fewer resources, take tenants out, or deploy some of the documents as a stage of their own.`
      throw new Fault('InvalidInput', 'role_too_large', message)
    }
  }
}

interface RoleResource {
  readonly Type: string
  readonly Properties?: {
    readonly Policies?: readonly { readonly PolicyName: unknown; readonly PolicyDocument: unknown }[]
  }
}

/** As IAM is sent it: what CloudFormation fills in counts at its length, or the longest there is. */
function sizeOf(document: unknown): number {
  const text = JSON.stringify(document, (_key, value: unknown) => (isFilledIn(value) ? filledIn(value) : value))
  return text.replaceAll(/\s/g, '').length
}

function isFilledIn(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).some((key) => key === 'Ref' || key.startsWith('Fn::'))
  )
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': '0'.repeat(12),
  'AWS::Region': 'ap-southeast-1',
  'AWS::Partition': 'aws-us-gov',
  'AWS::URLSuffix': 'amazonaws.com',
}
/** An ARN of this stage that another resource, or another stack, gives. */
const ARN_LENGTH = 110

function filledIn(value: unknown): string {
  if (!isFilledIn(value)) return typeof value === 'string' ? value : JSON.stringify(value)
  const { Ref, 'Fn::Join': join } = value
  if (typeof Ref === 'string' && Object.hasOwn(PSEUDO, Ref)) return PSEUDO[Ref] ?? ''
  const [, parts] = Array.isArray(join) ? (join as readonly unknown[]) : []
  return Array.isArray(parts) ? parts.map(filledIn).join('') : '-'.repeat(ARN_LENGTH)
}

function tooMany(stack: string, what: string, { documents, spread }: Asked): Fault {
  const enough = Math.max(spread + 1, Math.ceil(documents / 100))
  const message = `Cannot deploy ${documents} documents: stack ${stack} would have ${what}. sluice:document_stacks is ${spread}; a stage that was never deployed takes another number, say -c sluice:document_stacks=${enough}. One that was keeps its own: docs/deploy.md, "Many documents", says what to do there.`
  return new Fault('InvalidInput', 'too_many_documents', message)
}
