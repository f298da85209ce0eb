import { join } from 'node:path'
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  CfnAccount,
  EndpointType,
  type ResponseType as Kind,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  type MethodOptions,
  ResponseTransferMode,
  ResponseType,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { problemOf } from '../../shared/api/problem.ts'
import { FUNCTIONS, type FunctionLine } from '../../shared/catalog.ts'
import { Fault, type FaultName } from '../../shared/errors.ts'
import { ROUTES, type RouteLine } from '../../shared/routes.ts'
import { type ChosenRights, functionArn } from './access.ts'
import { CatalogFunction, functionEnvironment } from './catalog-function.ts'
import { functionsIn, isDeployed } from './function-sizes.ts'
import type { Names } from './names.ts'
import { CustomDomain, makePrivate } from './network.ts'
import type { ApiDoor } from './network-settings.ts'

interface ApiStackProps extends StackProps {
  readonly names: Names
  readonly chosen: ChosenRights
  /** Holds `functions/<name>/`. */
  readonly built: string
  /** What stands before the stage (web-acl.ts), or `none`. */
  readonly waf: string
  readonly door: ApiDoor
}

/** Anybody reaches it, and what no address is of must not cost the others their share. */
const CALLBACKS = { rate: 20, burst: 40 }

/** So does anybody this, where a document has triggers. */
const HOOKS = { rate: 20, burst: 40 }

/** Anybody reaches it too: people click seldom. */
const SLACK = { rate: 10, burst: 20 }

/** Requests a second, and how many may come at once (best effort: caps are kept in the store); of a route no more than of the stage. */
function throttled({ rate, burst }: ApiDoor['throttle'], stage: ApiDoor['throttle'] = { rate, burst }) {
  return { throttlingRateLimit: Math.min(rate, stage.rate), throttlingBurstLimit: Math.min(burst, stage.burst) }
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
    const { names, built, chosen, waf, door } = props
    this.api = this.addApi(names, chosen, door)
    const lines = [...functionsIn('route'), ...functionsIn('guard')]
    const functions = addFunctions(this, lines, { names, built, chosen })
    const absent = new Set(FUNCTIONS.filter((line) => !isDeployed(line, chosen)).map(({ name }) => name))
    const routes = ROUTES.filter(({ name }) => !absent.has(name))
    const functionOf = (name: string) => functions.get(name) ?? this.functionElsewhere(names, name)
    addRoutes(this.api, routes, functionOf, methodAuthorization(this, chosen.auth, functionOf))
    addGatewayAnswers(this.api, chosen.auth, waf !== 'none')
    if (waf !== 'none') new WebAcl(this, 'WebAcl', { names, api: this.api, choice: waf })
    const { domain, mutual_tls, private_api, default_endpoint } = door
    if (private_api !== undefined) makePrivate(this.api, private_api, chosen.auth, routes)
    if (domain !== undefined) new CustomDomain(this, 'Domain', { api: this.api, domain, mutual_tls })
    const url = domain !== undefined && default_endpoint === 'off' ? `https://${domain.name}/` : this.api.url
    new CfnOutput(this, 'Url', { value: url, description: 'SLUICE_URL of this deployment' })
  }

  private addApi(names: Names, chosen: ChosenRights, { throttle, default_endpoint }: ApiDoor): RestApi {
    const accessLogs = new LogGroup(this, 'AccessLogs', {
      logGroupName: `/aws/apigateway/${names.whole}-access`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const { account } = new GatewayLogs(this, 'GatewayLogs')
    const api = new RestApi(this, 'Api', {
      restApiName: names.whole,
      endpointTypes: [EndpointType.REGIONAL],
      // Bodies reach the functions as they were sent, and bytes leave as bytes.
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      ...(default_endpoint === 'off' ? { disableExecuteApiEndpoint: true } : {}),
      deployOptions: {
        ...throttled(throttle),
        methodOptions: {
          '/api/callbacks/{token}/POST': throttled(CALLBACKS, throttle),
          ...(chosen.triggers === true ? { '/api/hooks/{document}/{trigger}/POST': throttled(HOOKS, throttle) } : {}),
          ...(chosen.slack === undefined ? {} : { '/api/slack/interactions/POST': throttled(SLACK, throttle) }),
        },
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
    api.deploymentStage.node.addDependency(account, this.addExecutionLogs(api, names))
    return api
  }

  /** API Gateway would make it itself, under no key and kept for ever: made before the stage, under this very name, it is ours. */
  private addExecutionLogs(api: RestApi, names: Names): LogGroup {
    return new LogGroup(this, 'ExecutionLogs', {
      logGroupName: `API-Gateway-Execution-Logs_${api.restApiId}/${names.stage}`,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
  }

  /** start-run and retry-run stand beside the machines, others in SluiceOperations; their names are known. */
  private functionElsewhere(names: Names, name: string): IFunction {
    const arn = functionArn(this, names, name)
    return LambdaFunction.fromFunctionAttributes(this, name, { functionArn: arn, sameEnvironment: true })
  }
}

/**
 * Routes as methods of the API, their callers asked for as `authorized` says; routes that stream are passed on as they come. Of one that Slack or a sender signs, or whose address is signed, the
 * gateway lets everybody through to the function that checks it: it has a tighter throttle than the stage (api-stack.ts).
 */
function addRoutes(
  api: RestApi,
  routes: readonly RouteLine[],
  functionOf: (name: string) => IFunction,
  authorized: MethodOptions,
): void {
  const requestValidator = api.addRequestValidator('Parameters', {
    validateRequestBody: true,
    validateRequestParameters: true,
  })
  const integrations = new Map<string, LambdaIntegration>()
  for (const route of routes) {
    const integration = integrations.get(route.name) ?? integrationOf(route, functionOf(route.name))
    integrations.set(route.name, integration)
    api.root.resourceForPath(route.path).addMethod(route.method, integration, {
      ...(route.signed_by === undefined ? authorized : { authorizationType: AuthorizationType.NONE }),
      requestValidator,
      requestParameters: parametersOf(route.path),
    })
  }
}

/** API Gateway's longest wait for a stream, and for a whole answer. */
const STREAM = { responseTransferMode: ResponseTransferMode.STREAM, timeout: Duration.minutes(15) }
const WHOLE = { timeout: Duration.seconds(29) }

function integrationOf({ stream }: RouteLine, handler: IFunction): LambdaIntegration {
  return new LambdaIntegration(handler, { ...(stream === true ? STREAM : WHOLE), allowTestInvoke: false })
}

/** Path parameters are required; everything else of a request is judged by the handler, in its own words. */
function parametersOf(path: string): Record<string, boolean> {
  const names = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => `method.request.path.${name}`)
  return Object.fromEntries(names.map((name) => [name, true]))
}

/** A token that is revoked ends within this time: so long is an answer kept for a credential. */
const KEPT = Duration.seconds(60)

/** What no function need be asked about: API Gateway itself answers 401. */
const SHAPES = {
  token: '^[Bb]earer slu_[0-9a-hjkmnp-tv-z]{16}_[0-9a-hjkmnp-tv-z]{32}$',
  jwt: '^[Bb]earer [!-~]{1,8192}$',
}

/** How callers of the routes prove who they are: signed by IAM, or as the function says that `functionOf` answers. */
function methodAuthorization(
  scope: Construct,
  mode: ChosenRights['auth'],
  functionOf: (name: string) => IFunction,
): MethodOptions {
  if (mode === undefined) return { authorizationType: AuthorizationType.IAM }
  const authorizer = new TokenAuthorizer(scope, 'Authorizer', {
    handler: functionOf('authorize'),
    resultsCacheTtl: KEPT,
    validationRegex: SHAPES[mode],
  })
  return { authorizationType: AuthorizationType.CUSTOM, authorizer }
}

/** What API Gateway answers by itself, as problem+json like every answer of ours. */
function addGatewayAnswers(api: RestApi, mode: ChosenRights['auth'], waf: boolean): void {
  const denied = mode === undefined ? NOT_ALLOWED : UNAUTHENTICATED
  const filtered = waf ? [[ResponseType.WAF_FILTERED, FILTERED] as const] : []
  const answers = [...ANSWERS, [ResponseType.ACCESS_DENIED, denied] as const, ...filtered]
  for (const [type, { fault, said }] of answers) {
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: String(fault.status),
      responseHeaders: { 'Content-Type': "'application/problem+json'", 'Cache-Control': "'no-store'" },
      templates: { 'application/json': textOf(fault, said === true) },
    })
  }
}

interface GatewayAnswer {
  readonly fault: Fault
  /** AWS's own words come with it: about clocks and signatures they are what helps, and they name nothing of ours. */
  readonly said?: true
}

function answer(
  name: FaultName,
  status: number,
  code: string,
  detail: string,
  more: { said?: true } = {},
): GatewayAnswer {
  return { fault: new Fault(name, code, detail, { status }), ...more }
}

/** The words of functions/http-handler.ts. */
const UNAUTHENTICATED = answer(
  'Rejected',
  401,
  'unauthenticated',
  'Cannot tell who calls: send credentials this deployment accepts.',
)
const NOT_ALLOWED = answer(
  'Rejected',
  403,
  'access_denied',
  'These AWS credentials may not call this: their principal needs execute-api:Invoke on the API (docs/deploy.md).',
)
const FILTERED = answer(
  'Rejected',
  403,
  'request_filtered',
  'The web ACL before this deployment refused the request: too many from one address, or one that looks like an attack (docs/deploy.md).',
)
const BAD_SIGNATURE = answer(
  'Rejected',
  403,
  'signature_refused',
  'AWS does not accept the signature of this request.',
  {
    said: true,
  },
)

const ANSWERS: readonly (readonly [Kind, GatewayAnswer])[] = [
  [ResponseType.UNAUTHORIZED, UNAUTHENTICATED],
  [ResponseType.INVALID_SIGNATURE, BAD_SIGNATURE],
  [ResponseType.EXPIRED_TOKEN, BAD_SIGNATURE],
  [
    ResponseType.MISSING_AUTHENTICATION_TOKEN,
    answer('Rejected', 403, 'unsigned_or_unknown', 'The request is not signed, or no route has its path and method.', {
      said: true,
    }),
  ],
  [
    ResponseType.REQUEST_TOO_LARGE,
    answer('LimitExceeded', 413, 'body_too_large', 'Cannot take the body: at most 10 MiB come through API Gateway.'),
  ],
  [
    ResponseType.THROTTLED,
    answer('LimitExceeded', 429, 'throttled', 'Too many requests come to this deployment. Try again in a second.'),
  ],
  [
    ResponseType.QUOTA_EXCEEDED,
    answer('LimitExceeded', 429, 'throttled', 'Too many requests come to this deployment. Try again in a second.'),
  ],
  [
    ResponseType.AUTHORIZER_FAILURE,
    answer('Unavailable', 503, 'authorizer_failed', 'Cannot check who calls at the moment. Try again.'),
  ],
  [
    ResponseType.AUTHORIZER_CONFIGURATION_ERROR,
    answer('Unavailable', 503, 'authorizer_failed', 'Cannot check who calls at the moment. Try again.'),
  ],
]

/** `messageString` is a JSON text with its quotes. */
function textOf(fault: Fault, said: boolean): string {
  const text = JSON.stringify(problemOf(fault))
  return said ? `${text.slice(0, -1)},"message":$context.error.messageString}` : text
}

/**
 * Lets API Gateway write logs. The setting is one for the whole account and region, so it stays when the stack goes:
 * other APIs may have come to need it.
 */
class GatewayLogs extends Construct {
  readonly account: CfnAccount

  constructor(scope: Construct, id: string) {
    super(scope, id)
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: { logs: new PolicyDocument({ statements: [new PolicyStatement(LOGS)] }) },
    })
    role.applyRemovalPolicy(RemovalPolicy.RETAIN)
    this.account = new CfnAccount(this, 'Account', { cloudWatchRoleArn: role.roleArn })
    this.account.applyRemovalPolicy(RemovalPolicy.RETAIN)
    this.account.node.addDependency(role)
  }
}

/** The actions of AWS's own policy for this (AmazonAPIGatewayPushToCloudWatchLogs): the groups are API Gateway's to name. */
const LOGS = {
  actions: [
    'logs:CreateLogGroup',
    'logs:CreateLogStream',
    'logs:DescribeLogGroups',
    'logs:DescribeLogStreams',
    'logs:PutLogEvents',
    'logs:GetLogEvents',
    'logs:FilterLogEvents',
  ],
  resources: ['*'],
}

interface WebAclProps {
  readonly names: Names
  readonly api: RestApi
  /** `managed` = one of ours, else the ARN of one that is there. */
  readonly choice: string
}

/**
 * A web ACL before the API's stage. Ours looks at whom a request comes from, at headers, path and query, never at what a
 * body says: documents and prompts quote scripts, paths and markup, and may be longer than the 8 KB that AWS's own rule
 * allows. No request is sampled, since a sample shows its Authorization header; metrics and blocks need none.
 */
class WebAcl extends Construct {
  constructor(scope: Construct, id: string, { names, api, choice }: WebAclProps) {
    super(scope, id)
    const webAclArn = choice === 'managed' ? this.own(names).attrArn : choice
    new CfnWebACLAssociation(this, 'Association', { resourceArn: api.deploymentStage.stageArn, webAclArn })
  }

  private own(names: Names): CfnWebACL {
    return new CfnWebACL(this, 'Acl', {
      name: names.whole,
      description: 'Before the API of Sluice: too many requests of one address, known bad addresses, known attacks',
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: seenAs(names.whole),
      rules: [tooMany(names), ...GROUPS.map((group, i) => groupRule(names, group, i + 1))],
    })
  }
}

/** Requests of one address within five minutes, about seven a second: a room of people who look at runs stays below it. */
const MOST_AN_ADDRESS = 2_000

interface Group {
  readonly name: string
  /** Rules of it that count only: those that read bodies, except for the two attacks no document has a reason to hold. */
  readonly counted?: readonly string[]
}

/** AWS's own, by their names there; free but for the dollar a month every rule costs. Source: WAF guide, "AWS Managed Rules". */
const GROUPS: readonly Group[] = [
  { name: 'AWSManagedRulesAmazonIpReputationList' },
  { name: 'AWSManagedRulesKnownBadInputsRuleSet' },
  {
    name: 'AWSManagedRulesCommonRuleSet',
    counted: [
      'SizeRestrictions_BODY',
      'CrossSiteScripting_BODY',
      'GenericLFI_BODY',
      'GenericRFI_BODY',
      'EC2MetaDataSSRF_BODY',
    ],
  },
]

function tooMany(names: Names): CfnWebACL.RuleProperty {
  return {
    name: 'TooManyRequests',
    priority: 0,
    action: { block: {} },
    statement: { rateBasedStatement: { limit: MOST_AN_ADDRESS, evaluationWindowSec: 300, aggregateKeyType: 'IP' } },
    visibilityConfig: seenAs(`${names.whole}-TooManyRequests`),
  }
}

function groupRule(names: Names, { name, counted = [] }: Group, priority: number): CfnWebACL.RuleProperty {
  const ruleActionOverrides = counted.map((rule) => ({ name: rule, actionToUse: { count: {} } }))
  return {
    name,
    priority,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: { vendorName: 'AWS', name, ...(counted.length === 0 ? {} : { ruleActionOverrides }) },
    },
    visibilityConfig: seenAs(`${names.whole}-${name}`),
  }
}

function seenAs(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false, metricName }
}

type FunctionParts = Pick<ApiStackProps, 'names' | 'chosen' | 'built'>

/**
 * The functions of the routes that operate a stage: what starts runs, finds them and forgets them. The API's stack has their
 * routes and names them: with their functions it would be over what CloudFormation takes in one stack.
 */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { names, chosen, built, ...props }: StackProps & FunctionParts) {
    super(scope, id, props)
    addFunctions(this, functionsIn('operations'), { names, chosen, built })
  }
}

/** By name; those that the settings leave out are not there. */
function addFunctions(
  stack: Stack,
  lines: readonly FunctionLine[],
  { names, chosen, built }: FunctionParts,
): ReadonlyMap<string, IFunction> {
  const deployed = lines.filter((line) => isDeployed(line, chosen))
  return new Map(
    deployed.map((line) => {
      const bundle = join(built, 'functions', line.name)
      const environment = functionEnvironment(line, stack, names, chosen)
      return [line.name, new CatalogFunction(stack, { line, names, bundle, environment, chosen }).function]
    }),
  )
}
