import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Environment, Stage, Validations } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import cdk from '../../cdk.json' with { type: 'json' }
import { type DeploySettings, readDeploySettings } from './deploy-settings.ts'
import { QuotaChecks } from './measure-quotas.ts'
import { addProjectStage } from './project-stage.ts'

/** What projects import as `sluice/cdk`: a stage of a project in one's own CDK app (docs/deploy.md, "In a CDK app of yours"). */
export interface SluiceStageProps {
  /** Part of every name: a letter, then small letters and digits, 12 at most. Two stages live side by side in one account. */
  readonly stage: string
  /** Folder of the project: its sluice.yaml, documents, steps and gates. Default: the working folder. */
  readonly project?: string
  /** Account and region; default: those the CDK's CLI deploys with. */
  readonly env?: Environment
  /**
   * How callers of the API prove who they are. Default: `iam`, requests signed with AWS credentials. `token`: bearer tokens of
   * the stage. `jwt`: those of an identity provider.
   */
  readonly auth?: DeploySettings['auth'] | 'iam' | 'token'
  /** Whose runs are kept apart; wins over `tenants` of sluice.yaml. Default: `main` alone. */
  readonly tenants?: readonly string[]
  /** Who gets alarms by mail. Default: they are only shown. */
  readonly alarm_email?: string
  /** File of the settings, from the project's folder. Default: `sluice.STAGE.yaml`, else `sluice.yaml`. */
  readonly settings?: string
  /** Values of the safety policy that win over the file's. */
  readonly safety?: Readonly<Record<string, unknown>>
  /** Provider and model of the research chain, over the file's. */
  readonly research?: Readonly<Record<string, unknown>>
  /** ARN of a customer-managed KMS key for data at rest. Default: keys of AWS's own. */
  readonly key?: string
  /** Web ACL before the API: `none` (the default), `managed`, or the ARN of a regional one of the account. */
  readonly waf?: string
  /** Subnets that functions are in, their security groups, and what of AWS is reached from there. Default: no network of yours. */
  readonly network?: Readonly<Record<string, unknown>>
  /** VPC endpoints that alone lead to the API. Default: the API is public. */
  readonly private_api?: { readonly vpc_endpoints: readonly string[] }
  /** Your domain before the API: its name, and the ARN of its certificate in the region of the stage. */
  readonly domain?: { readonly name: string; readonly certificate: string }
  /** Whose certificates callers of the domain show. */
  readonly mutual_tls?: { readonly truststore: string; readonly version?: string }
  /** `off`: the API is reached by its domain alone. Default: on. */
  readonly default_endpoint?: 'on' | 'off'
  /** Requests a second of the whole stage, and how many at once. Default: 50 and 100. */
  readonly throttle?: { readonly rate?: number; readonly burst?: number }
  /** Stacks that share the machines of documents, 0 to 20. Never another number of a stage that stands. Default: 0. */
  readonly document_stacks?: number
  /** A table, and where it is not the stage's own a bucket, that a restore made (docs/operate.md, "Restoring"). */
  readonly restore_from?: { readonly table: string; readonly bucket?: string }
  /** Tags of everything that takes some. */
  readonly tags?: Readonly<Record<string, string>>
  /** Days that CloudWatch keeps log groups, of those it allows. Default: 30. */
  readonly log_retention_days?: number
  /** Days that objects are kept after their last write, 91 to 3650. Default: 365. */
  readonly retention_days?: number
}

/** A stage with all its stacks: SluiceData, SluiceMachines, SluiceOperations, SluiceApi, and what the project's documents need besides. */
export class SluiceStage extends Stage {
  /**
   * Bundles the project's code and adds its stacks. It waits for the bundler, so it is no constructor:
   * `await SluiceStage.add(app, 'Prod', { stage: 'prod' })`, before the app is synthesized. Fault InvalidInput says what of the
   * project or of these props is wrong.
   */
  static async add(scope: Construct, id: string, props: SluiceStageProps): Promise<SluiceStage> {
    const { project = '.', env, ...given } = props
    const told: Readonly<Record<string, unknown>> = { auth: 'iam', ...given }
    const deploy = readDeploySettings((key) => told[key.replace('sluice:', '')])
    const stage = new SluiceStage(scope, id, env === undefined ? {} : { env })
    // The stacks are written for these; a key that the app has already stays the app's.
    for (const [key, value] of Object.entries(cdk.context)) {
      if (key.startsWith('@aws-cdk/') && stage.node.tryGetContext(key) === undefined) stage.node.setContext(key, value)
    }
    const built = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
    // The stacks copy from it until the app is synthesized.
    process.once('exit', () => rmSync(built, { recursive: true, force: true }))
    Validations.of(stage).addPlugins(new QuotaChecks())
    await addProjectStage({ scope: stage, root: resolve(project), deploy, built })
    return stage
  }
}
