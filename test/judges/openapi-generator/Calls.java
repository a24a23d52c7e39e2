import made.api.PracticeGroupsApi;
import made.api.SubmissionTypesApi;
import made.invoker.ApiClient;
import made.model.SubmissionType;
import made.model.SubmissionTypePatch;

/** Calls the service with a generated client: prints what is left of the submission type after each update. */
public class Calls {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("PORTER_URL"));
    client.setRequestInterceptor(request -> request
        .header("x-api-key", System.getenv("PORTER_KEY"))
        .header("x-practice-group-id", System.getenv("PORTER_GROUP")));

    System.out.println(
        new PracticeGroupsApi(client).listPracticeGroups(null, null).getData().get(0).getId());
    SubmissionTypePatch[] patches = {
        new SubmissionTypePatch().dailyLimit(20).description("Set"),
        new SubmissionTypePatch().title("Omitted"),
        new SubmissionTypePatch().description(null),
    };
    for (SubmissionTypePatch patch : patches) {
      SubmissionType changed = new SubmissionTypesApi(client).updateSubmissionType("type-1", patch, null, null);
      System.out.println(changed.getTitle() + " " + changed.getDailyLimit() + " " + changed.getDescription());
    }
  }
}
