import { sha256 } from '../text/hash.ts'

/** The family of the task definition of a container. */
export function taskFamily(stage: string, name: string): string {
  return `sluice-${stage}-container-${name}`
}

/** A container as one tenant runs it. */
interface OwnedContainer {
  readonly tenant: string
  readonly name: string
}

/**
 * What its task works as: a role of this container and this tenant, which reaches their folders and no others. Names of
 * roles are short, and those of containers and tenants need not be.
 */
export function taskRole(stage: string, region: string, { tenant, name }: OwnedContainer): string {
  return `sluice-${stage}-task-${sha256(`${tenant}/${name}`).slice(0, 8)}-${region}`
}

/** The folder of the bucket that all its attempts exchange files in. */
export function taskFolders({ tenant, name }: OwnedContainer): string {
  return `${tenant}/containers/${name}`
}

/**
 * The folder of one attempt. IAM has no name for an attempt: who claimed it is told to nobody but its own task, and the
 * role may not list, so that the name itself is what opens it.
 */
export function taskFolder(task: OwnedContainer & { readonly holder: string }): string {
  return `${taskFolders(task)}/${sha256(task.holder)}`
}

/**
 * What stands before and after the container itself in its task: the same files it finds on a laptop are brought to
 * /sluice, and what it wrote is taken from there. BUCKET is of the task definition, the others of each attempt. SLUICE_FILES:
 * the ports whose bodies lie there, by name, since its role lists nothing.
 */
export const FETCH = [
  'set -e',
  'mkdir -p /sluice/files /sluice/artifacts',
  'aws s3 cp --only-show-errors "s3://$BUCKET/$SLUICE_FOLDER/input.json" /sluice/input.json',
  'for port in $SLUICE_FILES; do aws s3 cp --only-show-errors "s3://$BUCKET/$SLUICE_FOLDER/files/$port" "/sluice/files/$port"; done',
  'chmod -R a+rwX /sluice',
].join('\n')

/** Only where the container ended with exit code 0: else its task fails, and nothing it wrote is taken. */
export const PUBLISH = [
  'set -e',
  'cd /sluice/artifacts',
  'find . -type f > /tmp/artifacts.txt',
  'aws s3 cp --only-show-errors /tmp/artifacts.txt "s3://$BUCKET/$SLUICE_FOLDER/artifacts.txt"',
  'if [ -s /tmp/artifacts.txt ]; then aws s3 cp --only-show-errors --recursive /sluice/artifacts "s3://$BUCKET/$SLUICE_FOLDER/artifacts/"; fi',
  'aws s3 cp --only-show-errors /sluice/output.json "s3://$BUCKET/$SLUICE_FOLDER/output.json"',
].join('\n')
