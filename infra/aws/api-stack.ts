import { join } from 'node:path'
import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import {
  AccessLogField,
  AccessLogFormat,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { type IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { ROUTES } from '../../shared/routes.ts'
import { type Chosen, functionArn } from './access.ts'
import { addRoutes } from './api-routes.ts'
import { authorization } from './authorizer.ts'
import { CatalogFunction } from './catalog-function.ts'
import { environmentOf } from './function-environment.ts'
import { addGatewayAnswers } from './gateway-answers.ts'
import { GatewayLogs } from './gateway-logs.ts'
import type { Names } from './names.ts'
import { functionsAt, stands } from './placement.ts'
import { WebAcl } from './web-acl.ts'

export interface ApiStackProps extends StackProps {
  readonly names: Names
  readonly chosen: Chosen
  /** Holds `functions/<name>/`. */
  readonly built: string
  /** What stands before the stage (web-acl.ts), or `none`. */
  readonly waf: string
}

/** Requests a second of the whole stage, and how many may come at once (best effort: caps are kept in the store). */
const THROTTLE = { throttlingRateLimit: 50, throttlingBurstLimit: 100 }

/** The one method anybody reaches: people click seldom, and what is not theirs must not cost the others their share. */
const SLACK_THROTTLE = {
  '/api/slack/interactions/POST': { throttlingRateLimit: 10, throttlingBurstLimit: 20 },
}

/**
 * A line of the access log: the standard fields, and in every mode who called. `principal` is what the authorizer of
 * bearer tokens found (`user:ana`, `token:<id>`), `user_arn` whose signature it was in mode `iam`; `-` where it is none.
 */
const ACCESS_LINE = {
  requestId: AccessLogField.contextRequestId(),
  ip: AccessLogField.contextIdentitySourceIp(),
  caller: AccessLogField.contextIdentityCaller(),
  user: AccessLogField.contextIdentityUser(),
  requestTime: AccessLogField.contextRequestTime(),
  httpMethod: AccessLogField.contextHttpMethod(),
  resourcePath: AccessLogField.contextResourcePath(),
  status: AccessLogField.contextStatus(),
  protocol: AccessLogField.contextProtocol(),
  responseLength: AccessLogField.contextResponseLength(),
  principal: AccessLogField.contextAuthorizerPrincipalId(),
  user_arn: AccessLogField.contextIdentityUserArn(),
}

/** The door: one REST API (only REST APIs stream), a Lambda a route; callers signed by IAM or with a bearer, or by Slack. */
export class ApiStack extends Stack {
  readonly api: RestApi

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id, props)
    const { names, built, chosen, waf } = props
    this.api = this.addApi(names, chosen)
    const functions = new Map<string, IFunction>()
    const lines = [...functionsAt('route'), ...functionsAt('guard')].filter((line) => stands(line, chosen))
    for (const line of lines) {
      const bundle = join(built, 'functions', line.name)
      const environment = environmentOf(line, this, names)
      functions.set(line.name, new CatalogFunction(this, { line, names, bundle, environment, chosen }).function)
    }
    const routes = ROUTES.filter(({ signed_by }) => signed_by === undefined || chosen.slack !== undefined)
    const functionOf = (name: string) => functions.get(name) ?? this.functionElsewhere(names, name)
    addRoutes(this.api, routes, functionOf, authorization(this, chosen.auth, functionOf))
    addGatewayAnswers(this.api, chosen.auth, waf !== 'none')
    if (waf !== 'none') new WebAcl(this, 'WebAcl', { names, api: this.api, choice: waf })
    new CfnOutput(this, 'Url', { value: this.api.url, description: 'SLUICE_URL of this deployment' })
  }

  private addApi(names: Names, chosen: Chosen): RestApi {
    const accessLogs = new LogGroup(this, 'AccessLogs', {
      logGroupName: `/aws/apigateway/${names.table}-access`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const { account } = new GatewayLogs(this, 'GatewayLogs')
    const api = new RestApi(this, 'Api', {
      restApiName: names.table,
      endpointTypes: [EndpointType.REGIONAL],
      // Bodies reach the functions as they were sent, and bytes leave as bytes.
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      deployOptions: {
        ...THROTTLE,
        ...(chosen.slack === undefined ? {} : { methodOptions: SLACK_THROTTLE }),
        stageName: names.stage,
        tracingEnabled: true,
        // Metrics a method are billed one by one; those of the whole API are free.
        metricsEnabled: false,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LINE)),
      },
    })
    api.deploymentStage.node.addDependency(account)
    return api
  }

  /** start-run and retry-run stand beside the machines; their names are known. */
  private functionElsewhere(names: Names, name: string): IFunction {
    const arn = functionArn(this, names, name)
    return LambdaFunction.fromFunctionAttributes(this, name, { functionArn: arn, sameEnvironment: true })
  }
}
