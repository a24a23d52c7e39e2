// Calls a service with the clients that were generated of its documents.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"made/operator"
	"made/partner"
	"made/portal"
	"made/practice"
)

func with(headers map[string]string) func(context.Context, *http.Request) error {
	return func(_ context.Context, request *http.Request) error {
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		return nil
	}
}

func main() {
	url, group := os.Getenv("PORTER_URL"), os.Getenv("PORTER_GROUP")
	asPartner := with(map[string]string{"x-api-key": os.Getenv("PORTER_KEY"), "x-practice-group-id": group})
	partnerClient, err := partner.NewClientWithResponses(url, partner.WithRequestEditorFn(asPartner))
	if err != nil {
		log.Fatal(err)
	}
	groups, err := partnerClient.ListPracticeGroupsWithResponse(context.Background(), &partner.ListPracticeGroupsParams{})
	if err != nil || groups.JSON200 == nil {
		log.Fatal(err, string(groups.Body))
	}
	fmt.Println("partner", groups.JSON200.Data[0].Id)

	asOperator := with(map[string]string{"Authorization": "Bearer " + os.Getenv("PORTER_OPERATOR_TOKEN")})
	operatorClient, err := operator.NewClientWithResponses(url, operator.WithRequestEditorFn(asOperator))
	if err != nil {
		log.Fatal(err)
	}
	found, err := operatorClient.GetPracticeGroupWithResponse(context.Background(), group, &operator.GetPracticeGroupParams{})
	if err != nil || found.JSON200 == nil {
		log.Fatal(err, string(found.Body))
	}
	fmt.Println("operator", found.JSON200.Id)

	asSomebody := with(map[string]string{"Cookie": os.Getenv("PORTER_PARTNER_SESSION"), "x-porter-console": "1"})
	portalClient, err := portal.NewClientWithResponses(url, portal.WithRequestEditorFn(asSomebody))
	if err != nil {
		log.Fatal(err)
	}
	practices, err := portalClient.ListPortalPracticesWithResponse(context.Background(), &portal.ListPortalPracticesParams{})
	if err != nil || practices.JSON200 == nil {
		log.Fatal(err, string(practices.Body))
	}
	fmt.Println("portal", practices.JSON200.Data[0].Id)

	asManager := with(map[string]string{"Cookie": os.Getenv("PORTER_PRACTICE_SESSION"), "x-porter-console": "1"})
	practiceClient, err := practice.NewClientWithResponses(url, practice.WithRequestEditorFn(asManager))
	if err != nil {
		log.Fatal(err)
	}
	partners, err := practiceClient.ListReachingPartnersWithResponse(context.Background(), &practice.ListReachingPartnersParams{})
	if err != nil || partners.JSON200 == nil {
		log.Fatal(err, string(partners.Body))
	}
	fmt.Println("practice", partners.JSON200.Data[0].Partner.Id)
}
